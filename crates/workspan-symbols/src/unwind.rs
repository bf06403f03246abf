//! From the registers and the stack of a thread to the calls that it was in.
//!
//! Compilers say for each instruction where the caller's registers are (`.eh_frame`), since exceptions need it; so this works without
//! frame pointers and without debug information. Of x86-64 programs only.
//!
//! **Invariant:** memory is read from the copy of the stack alone; whatever lies outside ends the chain. So does anything that
//! makes no sense: no guess is made.

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, LittleEndian, ParsedEhFrameHdr, Register, RegisterRule,
    UnwindContext, UnwindSection,
};
use object::{Architecture, Object, ObjectSection, ObjectSegment};

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// Registers in debug information: rbp, rsp, and where the caller goes on.
const SP: u16 = 7;
const RETURN: u16 = 16;
/// Registers that have a number up to [`RETURN`].
const COUNT: usize = 17;
/// Calls within each other that are followed.
const DEEPEST: usize = 256;

/// What says where callers are, of a file of code.
#[derive(Debug)]
pub struct Callers<'a> {
    header: ParsedEhFrameHdr<Slice<'a>>,
    frames: EhFrame<Slice<'a>>,
    bases: BaseAddresses,
}

impl<'a> Callers<'a> {
    /// `None` if the file does not say it, or in a way that is not known here.
    pub fn parse(bytes: &'a [u8]) -> Option<Callers<'a>> {
        let file = object::File::parse(bytes).ok()?;
        if file.architecture() != Architecture::X86_64 {
            return None;
        }
        let section = |name: &str| -> Option<(&'a [u8], u64)> {
            let section = file.section_by_name(name)?;
            Some((section.data().ok()?, section.address()))
        };
        let (header, header_at) = section(".eh_frame_hdr")?;
        let (frames, frames_at) = section(".eh_frame")?;
        let mut bases = BaseAddresses::default().set_eh_frame_hdr(header_at).set_eh_frame(frames_at);
        if let Some((_, at)) = section(".text") {
            bases = bases.set_text(at);
        }
        if let Some((_, at)) = section(".got") {
            bases = bases.set_got(at);
        }
        let header = EhFrameHdr::new(header, LittleEndian).parse(&bases, 8).ok()?;
        Some(Callers { header, frames: EhFrame::new(frames, LittleEndian), bases })
    }

    /// Where the function around an address begins.
    pub fn function_at(&self, address: u64) -> Option<u64> {
        let cie = EhFrame::cie_from_offset;
        let function = self.header.table()?.fde_for_address(&self.frames, &self.bases, address, cie).ok()?;
        Some(function.initial_address())
    }
}

/// Where the parts of a file of code lie when it is mapped: offset in the file, length, address.
#[derive(Debug)]
pub struct Layout(Vec<(u64, u64, u64)>);

impl Layout {
    /// `None` if it is no such file.
    pub fn parse(bytes: &[u8]) -> Option<Layout> {
        let file = object::File::parse(bytes).ok()?;
        let parts = file.segments().map(|part| (part.file_range().0, part.file_range().1, part.address()));
        Some(Layout(parts.collect()))
    }

    /// The address, as the file has it, of what lies at an offset of it.
    pub fn address_of(&self, offset: u64) -> Option<u64> {
        let within = |(begin, length, _): &&(u64, u64, u64)| offset.checked_sub(*begin).is_some_and(|at| at < *length);
        let (begin, _, address) = self.0.iter().find(within)?;
        (offset - begin).checked_add(*address)
    }
}

/// A thread, stopped somewhere.
#[derive(Clone, Copy, Debug)]
pub struct Stopped<'s> {
    registers: [Option<u64>; COUNT],
    /// Where the copied part of the stack begins.
    base: u64,
    stack: &'s [u8],
}

impl<'s> Stopped<'s> {
    /// Registers by their numbers in debug information, the stack pointer and where it runs among them; and its stack from there on.
    pub fn new(registers: impl IntoIterator<Item = (u16, u64)>, stack: &'s [u8]) -> Stopped<'s> {
        let mut known = [None; COUNT];
        for (number, value) in registers {
            if let Some(register) = known.get_mut(usize::from(number)) {
                *register = Some(value);
            }
        }
        Stopped { registers: known, base: known[usize::from(SP)].unwrap_or(0), stack }
    }

    fn register(&self, register: Register) -> Option<u64> {
        self.registers.get(usize::from(register.0)).copied().flatten()
    }

    fn read(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.base)?).ok()?;
        Some(u64::from_le_bytes(self.stack.get(at..at.checked_add(8)?)?.try_into().ok()?))
    }

    /// Where it runs.
    fn at(&self) -> Option<u64> {
        self.registers[usize::from(RETURN)]
    }

    /// The same thread in the caller; `address`: where it is, as the file has it.
    fn caller(&self, callers: &Callers<'_>, address: u64, context: &mut UnwindContext<usize>) -> Option<Stopped<'s>> {
        let Callers { header, frames, bases, .. } = callers;
        let cie = EhFrame::cie_from_offset;
        let row = header.table()?.unwind_info_for_address(frames, bases, context, address, cie).ok()?;
        let CfaRule::RegisterAndOffset { register, offset } = *row.cfa() else { return None };
        let frame = self.register(register)?.wrapping_add_signed(offset);
        // Stacks grow downwards: a caller's frame lies above.
        if frame <= self.register(Register(SP))? {
            return None;
        }
        let mut registers = self.registers;
        for (number, value) in (0u16..).zip(&mut registers) {
            *value = match row.register(Register(number)) {
                Some(RegisterRule::Offset(offset)) => self.read(frame.wrapping_add_signed(offset)),
                Some(RegisterRule::ValOffset(offset)) => Some(frame.wrapping_add_signed(offset)),
                Some(RegisterRule::Register(from)) => self.register(from),
                // It is the last frame of its thread, or the value is lost.
                Some(RegisterRule::Undefined) => None,
                Some(RegisterRule::SameValue) | None if number != RETURN => *value,
                _ => None,
            };
        }
        registers[usize::from(SP)] = Some(frame);
        Some(Stopped { registers, ..*self })
    }
}

/// Where a thread was, innermost first: addresses of instructions in the calls, so that of a call rather than the one to which it
/// returns. `whole`: the chain is followed to the end of the thread's stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// Addresses in the program's memory.
    pub addresses: Vec<u64>,
    /// Nothing is missing.
    pub whole: bool,
}

/// Follows the calls of a thread. `find`: what says where callers are for the code at an address, and that address as its file has it.
pub fn chain<'c, 'a: 'c>(thread: Stopped<'_>, find: impl Fn(u64) -> Option<(&'c Callers<'a>, u64)>) -> Chain {
    let mut context = UnwindContext::new();
    let mut chain = Chain::default();
    let mut here = thread;
    // The innermost instruction has not run yet; of a caller, the call has.
    let mut behind = 0;
    while let Some(at) = here.at().and_then(|at| at.checked_sub(behind)).filter(|at| *at != 0) {
        chain.addresses.push(at);
        let next = find(at).and_then(|(callers, address)| here.caller(callers, address, &mut context));
        let Some(next) = next.filter(|_| chain.addresses.len() < DEEPEST) else { return chain };
        here = next;
        behind = 1;
    }
    chain.whole = true;
    chain
}
