//! Instructions of x86-64 as dependences see them.
//!
//! Registers are whole: a write of 8 or 16 bits keeps the rest, so that it needs the old value; one of 32 bits does not.
//! Flags are three registers: carry, overflow, and the others. What makes zero whatever the operands are (`xor eax, eax`)
//! needs none. Where an instruction moves a pointer besides what it computes (`push`, `call`, `ret`, strings), that is a
//! [`Move`]. Segments, caches and hints are no dependences, and `vzeroupper` changes nothing.

use iced_x86::{
    Code, Decoder, DecoderError, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register, RflagsBits,
};

use crate::latency;
use crate::op::{register, Flow, Move, Op};

/// Turns bytes into instructions.
#[derive(Debug)]
pub struct Decode {
    factory: InstructionInfoFactory,
}

impl Default for Decode {
    fn default() -> Decode {
        Decode { factory: InstructionInfoFactory::new() }
    }
}

impl Decode {
    /// Decodes one instruction; `None` if the bytes are none.
    pub fn op(&mut self, address: u64, bytes: &[u8]) -> Option<Op> {
        let instruction = decoded(address, bytes)?;
        Some(self.describe(&instruction))
    }

    /// The accesses to memory that an instruction is about to make: address, bytes, and whether it is a store. Those whose
    /// addresses stand in vector registers are missing. `None` if the bytes are no instruction.
    pub fn accesses(&mut self, bytes: &[u8], registers: &Registers) -> Option<Vec<(u64, u64, bool)>> {
        let instruction = decoded(registers.pc, bytes)?;
        let info = self.factory.info(&instruction);
        let repeats = instruction.has_rep_prefix() || instruction.has_repne_prefix();
        let counter = registers.general[Register::RCX.number()];
        let mut found = Vec::new();
        if repeats && instruction.is_string_instruction() && counter == 0 {
            return Some(found);
        }
        for memory in info.used_memory() {
            let value = |register: Register, _: usize, _: usize| registers.value(register);
            // A repeated instruction makes one round at a time.
            let Some(address) = memory.virtual_address(0, value) else { continue };
            let size = memory.memory_size().size() as u64;
            let (load, store) = match memory.access() {
                OpAccess::Read | OpAccess::CondRead => (true, false),
                OpAccess::Write | OpAccess::CondWrite => (false, true),
                OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
                OpAccess::None | OpAccess::NoMemAccess => (false, false),
            };
            found.extend(load.then_some((address, size, false)));
            found.extend(store.then_some((address, size, true)));
        }
        Some(found)
    }

    /// Whether bytes are a call of the system, and how long an instruction they are; `None` if they are none.
    pub fn length(&self, address: u64, bytes: &[u8]) -> Option<(usize, bool)> {
        let instruction = decoded(address, bytes)?;
        Some((instruction.len(), instruction.mnemonic() == Mnemonic::Syscall))
    }

    /// True if bytes are only the beginning of an instruction.
    pub fn is_cut(&self, address: u64, bytes: &[u8]) -> bool {
        let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
        decoder.decode().is_invalid() && decoder.last_error() == DecoderError::NoMoreBytes
    }

    fn describe(&mut self, instruction: &Instruction) -> Op {
        let mut op = Op { flow: flow(instruction), ..Op::default() };
        let info = self.factory.info(instruction);
        let mnemonic = instruction.mnemonic();
        if matches!(mnemonic, Mnemonic::Syscall | Mnemonic::Sysenter | Mnemonic::Int) {
            return system_call();
        }
        if matches!(mnemonic, Mnemonic::Nop | Mnemonic::Endbr64 | Mnemonic::Vzeroupper | Mnemonic::Emms) {
            return op;
        }
        let mut loads = false;
        for memory in info.used_memory() {
            if memory.access() == OpAccess::NoMemAccess {
                continue;
            }
            op.memory = true;
            loads |= memory.access() != OpAccess::Write;
            op.updates |=
                matches!(memory.access(), OpAccess::ReadWrite | OpAccess::ReadCondWrite | OpAccess::CondWrite);
            for part in [memory.base(), memory.index()] {
                if let Some(register) = number(part) {
                    op.addresses.add(register);
                }
            }
        }
        op.cycles = latency::cycles(instruction, loads);
        let stack = instruction.is_stack_instruction();
        let string = instruction.is_string_instruction();
        let zero = makes_zero(instruction);
        for used in info.used_registers() {
            let Some(register) = number(used.register()) else { continue };
            if stack && register == register::STACK || string && is_pointer(register) {
                continue;
            }
            let reads = matches!(
                used.access(),
                OpAccess::Read
                    | OpAccess::CondRead
                    | OpAccess::ReadWrite
                    | OpAccess::ReadCondWrite
                    | OpAccess::CondWrite
            );
            let writes = matches!(
                used.access(),
                OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
            );
            // What is only part of an address is no value.
            let address = used.access() == OpAccess::Read && op.addresses.contains(&register);
            if reads && !zero && (!address || is_value(instruction, info, register)) {
                op.reads(register);
            }
            if writes {
                op.writes(register);
                if used.register().is_gpr() && used.register().size() < 4 {
                    op.reads(register);
                }
            }
        }
        flags(instruction.rflags_read(), |register| op.reads(register));
        if zero {
            op.sources.retain(|_| false);
        }
        flags(instruction.rflags_modified(), |register| op.writes(register));
        if stack {
            stack_moves(instruction, &mut op);
        }
        if string {
            string_moves(instruction, &mut op);
        }
        if !stack && op.targets.contains(&register::STACK) && shrinks(instruction) {
            op.sources.retain(|source| source != register::STACK);
            op.allocates = true;
        }
        let turn = instruction.fpu_stack_increment_info();
        op.turn = i8::try_from(turn.increment()).unwrap_or(0);
        op
    }
}

/// Registers of a thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Registers {
    /// Address of the instruction.
    pub pc: u64,
    /// General registers by their numbers.
    pub general: [u64; 16],
    /// Where the segments `fs` and `gs` begin.
    pub segments: [u64; 2],
}

impl Registers {
    fn value(&self, register: Register) -> Option<u64> {
        match register {
            Register::FS => Some(self.segments[0]),
            Register::GS => Some(self.segments[1]),
            Register::CS | Register::DS | Register::ES | Register::SS => Some(0),
            _ if register.is_gpr() => {
                let value = self.general.get(register.full_register().number())?;
                Some(if register.size() == 4 { value & 0xffff_ffff } else { *value })
            }
            _ => None,
        }
    }
}

/// The text of an instruction's name and of the extension that it belongs to.
pub fn name(address: u64, bytes: &[u8]) -> Option<(String, String)> {
    let instruction = decoded(address, bytes)?;
    let mnemonic = format!("{:?}", instruction.mnemonic()).to_ascii_lowercase();
    let features: Vec<String> = instruction.cpuid_features().iter().map(|feature| format!("{feature:?}")).collect();
    Some((mnemonic, features.join("+")))
}

/// Whether a processor without AVX-512 lacks an instruction.
pub fn is_avx512(address: u64, bytes: &[u8]) -> bool {
    name(address, bytes).is_some_and(|(_, features)| features.contains("AVX512"))
}

fn decoded(address: u64, bytes: &[u8]) -> Option<Instruction> {
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    (!instruction.is_invalid()).then_some(instruction)
}

fn flow(instruction: &Instruction) -> Flow {
    match instruction.flow_control() {
        FlowControl::ConditionalBranch => Flow::Branch,
        FlowControl::IndirectBranch => Flow::Indirect,
        FlowControl::Call if instruction.mnemonic() == Mnemonic::Call => Flow::Call,
        FlowControl::IndirectCall => Flow::IndirectCall,
        FlowControl::Return => Flow::Return,
        _ => Flow::Next,
    }
}

/// It reads its number and up to six arguments, and writes its result and the two registers that the processor uses.
fn system_call() -> Op {
    let mut op = Op { system: true, ..Op::default() };
    let of = |register: Register| number(register).unwrap_or(register::NONE);
    for register in
        [Register::RAX, Register::RDI, Register::RSI, Register::RDX, Register::R10, Register::R8, Register::R9]
    {
        op.reads(of(register));
    }
    for register in [Register::RAX, Register::RCX, Register::R11] {
        op.writes(of(register));
    }
    // Its buffers are memory that it accesses.
    op.memory = true;
    op
}

/// Our number of a register; `None` if it is no dependence.
fn number(register: Register) -> Option<u8> {
    let full = register.full_register();
    let index = u8::try_from(full.number()).ok()?;
    match () {
        () if register == Register::None => None,
        () if full.is_gpr() => Some(register::GENERAL + index),
        () if full.is_vector_register() => Some(register::VECTOR + index),
        () if full.is_st() => Some(register::FLOAT + index),
        () if full.is_k() => Some(register::MASK + index),
        () if full.is_mm() => Some(register::FLOAT + index),
        () => None,
    }
}

fn flags(bits: u32, mut each: impl FnMut(u8)) {
    let other = RflagsBits::SF | RflagsBits::ZF | RflagsBits::AF | RflagsBits::PF;
    for (bits_of_it, register) in
        [(RflagsBits::CF, register::CARRY), (RflagsBits::OF, register::OVERFLOW), (other, register::FLAGS)]
    {
        if bits & bits_of_it != 0 {
            each(register);
        }
    }
}

fn is_pointer(register: u8) -> bool {
    [Register::RSI, Register::RDI, Register::RCX].iter().any(|pointer| number(*pointer) == Some(register))
}

/// Whether a register that makes an address is a value, too.
fn is_value(instruction: &Instruction, info: &iced_x86::InstructionInfo, register: u8) -> bool {
    let explicit = (0..instruction.op_count()).any(|operand| {
        instruction.op_kind(operand) == OpKind::Register
            && number(instruction.op_register(operand)) == Some(register)
            && !matches!(info.op_access(operand), OpAccess::Write | OpAccess::None | OpAccess::NoMemAccess)
    });
    let implied: &[Register] = match instruction.mnemonic() {
        Mnemonic::Mul | Mnemonic::Xlatb | Mnemonic::Cmpxchg => &[Register::RAX],
        Mnemonic::Imul if instruction.op_count() == 1 => &[Register::RAX],
        Mnemonic::Div | Mnemonic::Idiv => &[Register::RAX, Register::RDX],
        Mnemonic::Mulx => &[Register::RDX],
        Mnemonic::Cmpxchg8b | Mnemonic::Cmpxchg16b => &[Register::RAX, Register::RDX, Register::RBX, Register::RCX],
        Mnemonic::Shl | Mnemonic::Shr | Mnemonic::Sar | Mnemonic::Rol | Mnemonic::Ror => &[],
        _ => &[],
    };
    explicit || implied.iter().any(|implied| number(*implied) == Some(register))
}

/// Whether the result does not depend on the operands.
fn makes_zero(instruction: &Instruction) -> bool {
    use Mnemonic::{
        Pcmpeqb, Pcmpeqd, Pcmpeqw, Pcmpgtb, Pcmpgtd, Pcmpgtw, Psubb, Psubd, Psubq, Psubw, Pxor, Sub, Vpcmpeqb,
        Vpcmpeqd, Vpcmpeqw, Vpsubb, Vpsubd, Vpsubq, Vpsubw, Vpxor, Vxorpd, Vxorps, Xor, Xorpd, Xorps,
    };
    let same = |a: u32, b: u32| {
        [a, b].iter().all(|operand| instruction.op_kind(*operand) == OpKind::Register)
            && instruction.op_register(a) == instruction.op_register(b)
    };
    match instruction.mnemonic() {
        // A partial register keeps its rest.
        Xor | Sub => same(0, 1) && instruction.op_register(0).size() >= 4,
        Pxor | Xorps | Xorpd | Pcmpeqb | Pcmpeqd | Pcmpeqw | Pcmpgtb | Pcmpgtd | Pcmpgtw | Psubb | Psubd | Psubq
        | Psubw => same(0, 1),
        Vpxor | Vxorps | Vxorpd | Vpcmpeqb | Vpcmpeqd | Vpcmpeqw | Vpsubb | Vpsubd | Vpsubq | Vpsubw => {
            instruction.op_count() == 3 && same(1, 2)
        }
        _ => false,
    }
}

/// The stack pointer of `push`, `pop`, `call`, `ret`, `leave`, `enter`.
fn stack_moves(instruction: &Instruction, op: &mut Op) {
    let allocates = instruction.stack_pointer_increment() < 0;
    let base = number(Register::RBP).unwrap_or(register::NONE);
    // What is read explicitly is a value: `push rsp`.
    let pushes_register = instruction.op_count() == 1 && instruction.op_kind(0) == OpKind::Register && allocates;
    if pushes_register && number(instruction.op_register(0)) == Some(register::STACK) {
        op.reads(register::STACK);
    }
    let from = if instruction.mnemonic() == Mnemonic::Leave { base } else { register::STACK };
    if allocates {
        // The place is that of the new frame or the new entry, which a spaghetti stack has without a look at the old one.
        op.addresses.retain(|address| address != register::STACK);
        op.allocates = true;
    }
    if instruction.mnemonic() == Mnemonic::Leave {
        op.sources.retain(|source| source != base);
        op.addresses.add(base);
        op.addresses.retain(|address| address != register::STACK);
    }
    op.moves.add(Move { to: register::STACK, from, allocates, address: true });
}

/// The pointers of `movs`, `stos`, `lods`, `scas`, `cmps`, and the counter of `rep`.
fn string_moves(instruction: &Instruction, op: &mut Op) {
    let of = |register: Register| number(register).unwrap_or(register::NONE);
    for pointer in [Register::RSI, Register::RDI] {
        if op.addresses.contains(&of(pointer)) {
            op.moves.add(Move { to: of(pointer), from: of(pointer), allocates: false, address: true });
        }
    }
    if instruction.has_rep_prefix() || instruction.has_repne_prefix() {
        let counter = of(Register::RCX);
        op.reads(counter);
        op.moves.add(Move { to: counter, from: counter, allocates: false, address: false });
    }
}

/// Whether an instruction that writes the stack pointer makes room.
fn shrinks(instruction: &Instruction) -> bool {
    let immediate = || i64::from_ne_bytes(instruction.immediate(1).to_ne_bytes());
    let constant = instruction.op_count() == 2 && instruction.try_immediate(1).is_ok();
    match instruction.mnemonic() {
        Mnemonic::Sub => !constant || immediate() > 0,
        Mnemonic::Add => constant && immediate() < 0,
        Mnemonic::And => constant,
        Mnemonic::Lea => {
            let displacement = i64::from_ne_bytes(instruction.memory_displacement64().to_ne_bytes());
            instruction.memory_base() == Register::RSP && displacement < 0
        }
        _ => instruction.code() == Code::Enterq_imm16_imm8,
    }
}
