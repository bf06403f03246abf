//! How many cycles instructions take on a processor of our days, where everything is in the nearest cache.
//!
//! Processors differ by a cycle or two; these are round numbers for all. Divisions take as long as their operands demand, here
//! as long as those of 64 bits typically do.

use iced_x86::{Instruction, Mnemonic};

/// What a load adds.
pub const LOAD: u8 = 4;
/// Integer multiplication, counts of bits, checksums.
pub const MULTIPLY: u8 = 3;
/// Integer division.
pub const DIVIDE: u8 = 20;
/// Addition, multiplication, comparison and conversion of floating-point numbers, scalar or vector.
pub const FLOAT: u8 = 4;
/// Their division.
pub const FLOAT_DIVIDE: u8 = 13;
/// Their square root.
pub const ROOT: u8 = 16;
/// Functions that one instruction computes: sine, logarithm.
pub const FUNCTION: u8 = 100;

/// Cycles from an instruction's operands to its result; a load included if it `loads`.
pub fn cycles(instruction: &Instruction, loads: bool) -> u8 {
    compute(instruction.mnemonic()) + if loads { LOAD } else { 0 }
}

fn compute(mnemonic: Mnemonic) -> u8 {
    use Mnemonic as M;
    match mnemonic {
        M::Imul
        | M::Mul
        | M::Mulx
        | M::Popcnt
        | M::Lzcnt
        | M::Tzcnt
        | M::Bsf
        | M::Bsr
        | M::Crc32
        | M::Pdep
        | M::Pext => MULTIPLY,
        M::Div | M::Idiv => DIVIDE,
        M::Fsin
        | M::Fcos
        | M::Fsincos
        | M::Fptan
        | M::Fpatan
        | M::F2xm1
        | M::Fyl2x
        | M::Fyl2xp1
        | M::Fprem
        | M::Fprem1 => FUNCTION,
        _ => by_name(mnemonic),
    }
}

/// Floating-point instructions have names that say what they do, scalar and vector, with and without `v`.
fn by_name(mnemonic: Mnemonic) -> u8 {
    let name = format!("{mnemonic:?}").to_ascii_lowercase();
    let name = name.strip_prefix('v').unwrap_or(&name);
    let scalar_or_packed = ["ss", "sd", "ps", "pd"].iter().any(|end| name.ends_with(end));
    let starts = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    match () {
        () if scalar_or_packed && starts(&["div"]) || starts(&["fdiv", "fidiv"]) => FLOAT_DIVIDE,
        () if scalar_or_packed && starts(&["sqrt"]) || name == "fsqrt" => ROOT,
        () if scalar_or_packed && starts(&["add", "sub", "mul", "min", "max", "cmp", "hadd", "hsub", "round"]) => FLOAT,
        () if starts(&[
            "cvt", "fmadd", "fmsub", "fnmadd", "fnmsub", "comis", "ucomis", "aes", "pclmul", "pmul", "pmadd",
        ]) =>
        {
            FLOAT
        }
        () if starts(&[
            "fadd", "fsub", "fmul", "fcom", "fucom", "fiadd", "fisub", "fimul", "fabs", "fchs", "frndint",
        ]) =>
        {
            FLOAT
        }
        () => 1,
    }
}
