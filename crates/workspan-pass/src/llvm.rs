//! LLVM's C interface, looked up in the process that the library was loaded into.
//!
//! Every handle is a pointer that LLVM gave out and that lives as long as its module or context; modules are used by one
//! thread at a time. With that, each function here is as safe as its counterpart in C++; null handles are never passed on.

#![expect(clippy::not_unsafe_ptr_arg_deref, reason = "handles and texts are LLVM's, as the head of the file says")]

use core::ffi::{c_char, c_int, c_uint, c_void};
use std::ffi::CString;
use std::sync::OnceLock;

/// A handle: module, value, type, block, metadata, builder.
pub type Ref = *mut c_void;

extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Linkage of what is a module's own.
pub const INTERNAL: i32 = 8;
/// The same, without a symbol.
pub const PRIVATE: i32 = 9;
/// Index of a function among its attributes.
pub const FUNCTION: u32 = u32::MAX;
/// Linkage of what is defined elsewhere, too.
pub const AVAILABLE_EXTERNALLY: i32 = 1;

/// The first definition after this library's, in the order of search.
const NEXT: *mut c_void = -1_isize as *mut c_void;

/// A function of the compiler's process; null if it has none of that name.
pub fn lookup(name: &str) -> *mut c_void {
    let Ok(name) = CString::new(name) else {
        return core::ptr::null_mut();
    };
    // SAFETY: a text that ends in a zero; the handle is one of those that dlsym defines.
    unsafe { dlsym(NEXT, name.as_ptr()) }
}

macro_rules! functions {
    ($($method:ident = $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions that the pass needs.
        #[expect(missing_debug_implementations, reason = "nothing but addresses")]
        pub struct Llvm { $($method: unsafe extern "C" fn($($type),*) $(-> $result)?,)* }

        impl Llvm {
            fn load() -> Result<Llvm, &'static str> {
                Ok(Llvm { $($method: {
                    let function = lookup(stringify!($name));
                    if function.is_null() {
                        return Err(stringify!($name));
                    }
                    // SAFETY: LLVM's C interface is stable: a function of this name has this type.
                    unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) $(-> $result)?>(function) }
                },)* })
            }

            $(
                #[doc = stringify!($name)]
                #[inline]
                pub fn $method(&self, $($argument: $type),*) $(-> $result)? {
                    // SAFETY: see the head of this file.
                    unsafe { (self.$method)($($argument),*) }
                }
            )*
        }
    };
}

functions! {
    context_of = LLVMGetModuleContext(module: Ref) -> Ref;
    source_file_name = LLVMGetSourceFileName(module: Ref, length: *mut usize) -> *const c_char;
    target = LLVMGetTarget(module: Ref) -> *const c_char;
    first_function = LLVMGetFirstFunction(module: Ref) -> Ref;
    next_function = LLVMGetNextFunction(function: Ref) -> Ref;
    named_function = LLVMGetNamedFunction(module: Ref, name: *const c_char) -> Ref;
    index_count = LLVMGetNumIndices(value: Ref) -> c_uint;
    indices = LLVMGetIndices(value: Ref) -> *const c_uint;
    named_global = LLVMGetNamedGlobal(module: Ref, name: *const c_char) -> Ref;
    is_declaration = LLVMIsDeclaration(global: Ref) -> c_int;
    linkage = LLVMGetLinkage(global: Ref) -> c_int;
    comdat = LLVMGetComdat(global: Ref) -> Ref;
    value_name = LLVMGetValueName2(value: Ref, length: *mut usize) -> *const c_char;
    first_block = LLVMGetFirstBasicBlock(function: Ref) -> Ref;
    next_block = LLVMGetNextBasicBlock(block: Ref) -> Ref;
    first_instruction = LLVMGetFirstInstruction(block: Ref) -> Ref;
    next_instruction = LLVMGetNextInstruction(instruction: Ref) -> Ref;
    terminator = LLVMGetBasicBlockTerminator(block: Ref) -> Ref;
    opcode = LLVMGetInstructionOpcode(instruction: Ref) -> c_int;
    successors = LLVMGetNumSuccessors(terminator: Ref) -> c_uint;
    successor = LLVMGetSuccessor(terminator: Ref, number: c_uint) -> Ref;
    operands = LLVMGetNumOperands(value: Ref) -> c_int;
    operand = LLVMGetOperand(value: Ref, number: c_uint) -> Ref;
    type_of = LLVMTypeOf(value: Ref) -> Ref;
    type_kind = LLVMGetTypeKind(ty: Ref) -> c_int;
    vector_size = LLVMGetVectorSize(ty: Ref) -> c_uint;
    element_type = LLVMGetElementType(ty: Ref) -> Ref;
    struct_element = LLVMStructGetTypeAtIndex(ty: Ref, element: c_uint) -> Ref;
    struct_elements = LLVMCountStructElementTypes(ty: Ref) -> c_uint;
    int_width = LLVMGetIntTypeWidth(ty: Ref) -> c_uint;
    data_layout = LLVMGetModuleDataLayout(module: Ref) -> Ref;
    store_size = LLVMStoreSizeOfType(layout: Ref, ty: Ref) -> u64;
    abi_size = LLVMABISizeOfType(layout: Ref, ty: Ref) -> u64;
    offset_of_element = LLVMOffsetOfElement(layout: Ref, ty: Ref, element: c_uint) -> u64;
    address_space = LLVMGetPointerAddressSpace(ty: Ref) -> c_uint;
    called_value = LLVMGetCalledValue(call: Ref) -> Ref;
    is_a_function = LLVMIsAFunction(value: Ref) -> Ref;
    is_a_global_variable = LLVMIsAGlobalVariable(value: Ref) -> Ref;
    is_a_inline_asm = LLVMIsAInlineAsm(value: Ref) -> Ref;
    is_a_constant_int = LLVMIsAConstantInt(value: Ref) -> Ref;
    is_a_constant_expr = LLVMIsAConstantExpr(value: Ref) -> Ref;
    is_a_instruction = LLVMIsAInstruction(value: Ref) -> Ref;
    is_null = LLVMIsNull(value: Ref) -> c_int;
    const_opcode = LLVMGetConstOpcode(value: Ref) -> c_int;
    sext_value = LLVMConstIntGetSExtValue(value: Ref) -> i64;
    volatile = LLVMGetVolatile(instruction: Ref) -> c_int;
    ordering = LLVMGetOrdering(instruction: Ref) -> c_int;
    set_ordering = LLVMSetOrdering(instruction: Ref, ordering: c_int);
    print = LLVMPrintValueToString(value: Ref) -> *mut c_char;
    dispose_message = LLVMDisposeMessage(message: *mut c_char);
    rmw_operator = LLVMGetAtomicRMWBinOp(instruction: Ref) -> c_int;
    success_ordering = LLVMGetCmpXchgSuccessOrdering(instruction: Ref) -> c_int;
    is_tail_call = LLVMIsTailCall(call: Ref) -> c_int;
    gep_source_type = LLVMGetGEPSourceElementType(gep: Ref) -> Ref;
    is_thread_local = LLVMIsThreadLocal(global: Ref) -> c_int;
    global_value_type = LLVMGlobalGetValueType(global: Ref) -> Ref;
    create_builder = LLVMCreateBuilderInContext(context: Ref) -> Ref;
    dispose_builder = LLVMDisposeBuilder(builder: Ref);
    position_before = LLVMPositionBuilderBefore(builder: Ref, instruction: Ref);
    position_at_end = LLVMPositionBuilderAtEnd(builder: Ref, block: Ref);
    insert = LLVMInsertIntoBuilder(builder: Ref, instruction: Ref);
    remove = LLVMInstructionRemoveFromParent(instruction: Ref);
    build_call = LLVMBuildCall2(builder: Ref, ty: Ref, function: Ref, arguments: *mut Ref, count: c_uint, name: *const c_char) -> Ref;
    build_load = LLVMBuildLoad2(builder: Ref, ty: Ref, pointer: Ref, name: *const c_char) -> Ref;
    build_store = LLVMBuildStore(builder: Ref, value: Ref, pointer: Ref) -> Ref;
    build_gep = LLVMBuildGEP2(builder: Ref, ty: Ref, pointer: Ref, indices: *mut Ref, count: c_uint, name: *const c_char) -> Ref;
    build_ptr_to_int = LLVMBuildPtrToInt(builder: Ref, value: Ref, ty: Ref, name: *const c_char) -> Ref;
    build_zext = LLVMBuildZExt(builder: Ref, value: Ref, ty: Ref, name: *const c_char) -> Ref;
    build_sext = LLVMBuildSExt(builder: Ref, value: Ref, ty: Ref, name: *const c_char) -> Ref;
    build_trunc = LLVMBuildTrunc(builder: Ref, value: Ref, ty: Ref, name: *const c_char) -> Ref;
    build_extract = LLVMBuildExtractElement(builder: Ref, vector: Ref, index: Ref, name: *const c_char) -> Ref;
    build_add = LLVMBuildAdd(builder: Ref, left: Ref, right: Ref, name: *const c_char) -> Ref;
    build_freeze = LLVMBuildFreeze(builder: Ref, value: Ref, name: *const c_char) -> Ref;
    build_sub = LLVMBuildSub(builder: Ref, left: Ref, right: Ref, name: *const c_char) -> Ref;
    build_shl = LLVMBuildShl(builder: Ref, left: Ref, right: Ref, name: *const c_char) -> Ref;
    build_or = LLVMBuildOr(builder: Ref, left: Ref, right: Ref, name: *const c_char) -> Ref;
    build_exact_sdiv = LLVMBuildExactSDiv(builder: Ref, left: Ref, right: Ref, name: *const c_char) -> Ref;
    build_int_to_ptr = LLVMBuildIntToPtr(builder: Ref, value: Ref, ty: Ref, name: *const c_char) -> Ref;
    set_successor = LLVMSetSuccessor(terminator: Ref, number: c_uint, block: Ref);
    build_mul = LLVMBuildMul(builder: Ref, left: Ref, right: Ref, name: *const c_char) -> Ref;
    build_icmp = LLVMBuildICmp(builder: Ref, predicate: c_int, left: Ref, right: Ref, name: *const c_char) -> Ref;
    build_cond_br = LLVMBuildCondBr(builder: Ref, condition: Ref, yes: Ref, no: Ref) -> Ref;
    delete_block = LLVMDeleteBasicBlock(block: Ref);
    build_br = LLVMBuildBr(builder: Ref, block: Ref) -> Ref;
    build_phi = LLVMBuildPhi(builder: Ref, ty: Ref, name: *const c_char) -> Ref;
    add_incoming = LLVMAddIncoming(phi: Ref, values: *mut Ref, blocks: *mut Ref, count: c_uint);
    build_ret = LLVMBuildRet(builder: Ref, value: Ref) -> Ref;
    build_ret_void = LLVMBuildRetVoid(builder: Ref) -> Ref;
    alignment = LLVMGetAlignment(value: Ref) -> c_uint;
    set_alignment = LLVMSetAlignment(value: Ref, bytes: c_uint);
    add_global = LLVMAddGlobal(module: Ref, ty: Ref, name: *const c_char) -> Ref;
    delete_global = LLVMDeleteGlobal(global: Ref);
    initializer = LLVMGetInitializer(global: Ref) -> Ref;
    set_initializer = LLVMSetInitializer(global: Ref, value: Ref);
    set_linkage = LLVMSetLinkage(global: Ref, linkage: c_int);
    global_constant = LLVMIsGlobalConstant(global: Ref) -> c_int;
    set_constant = LLVMSetGlobalConstant(global: Ref, constant: c_int);
    set_section = LLVMSetSection(global: Ref, section: *const c_char);
    set_thread_local_mode = LLVMSetThreadLocalMode(global: Ref, mode: c_int);
    add_function = LLVMAddFunction(module: Ref, name: *const c_char, ty: Ref) -> Ref;
    function_type = LLVMFunctionType(result: Ref, arguments: *mut Ref, count: c_uint, variadic: c_int) -> Ref;
    append_block = LLVMAppendBasicBlockInContext(context: Ref, function: Ref, name: *const c_char) -> Ref;
    function_of_block = LLVMGetBasicBlockParent(block: Ref) -> Ref;
    function_of_argument = LLVMGetParamParent(argument: Ref) -> Ref;
    parameter_count = LLVMCountParams(function: Ref) -> c_uint;
    is_variadic = LLVMIsFunctionVarArg(ty: Ref) -> c_int;
    param = LLVMGetParam(function: Ref, number: c_uint) -> Ref;
    const_int = LLVMConstInt(ty: Ref, value: u64, signed: c_int) -> Ref;
    const_null = LLVMConstNull(ty: Ref) -> Ref;
    const_string = LLVMConstStringInContext(context: Ref, text: *const c_char, length: c_uint, no_zero: c_int) -> Ref;
    const_struct = LLVMConstStructInContext(context: Ref, values: *mut Ref, count: c_uint, packed: c_int) -> Ref;
    const_array = LLVMConstArray(ty: Ref, values: *mut Ref, count: c_uint) -> Ref;
    pointer_type = LLVMPointerTypeInContext(context: Ref, space: c_uint) -> Ref;
    int_type = LLVMIntTypeInContext(context: Ref, bits: c_uint) -> Ref;
    void_type = LLVMVoidTypeInContext(context: Ref) -> Ref;
    array_type = LLVMArrayType(ty: Ref, count: c_uint) -> Ref;
    attribute_kind = LLVMGetEnumAttributeKindForName(name: *const c_char, length: usize) -> c_uint;
    create_attribute = LLVMCreateEnumAttribute(context: Ref, kind: c_uint, value: u64) -> Ref;
    add_attribute = LLVMAddAttributeAtIndex(function: Ref, index: c_uint, attribute: Ref);
    string_attribute = LLVMGetStringAttributeAtIndex(function: Ref, index: c_uint, name: *const c_char, length: c_uint) -> Ref;
    string_value = LLVMGetStringAttributeValue(attribute: Ref, length: *mut c_uint) -> *const c_char;
    attribute_at = LLVMGetEnumAttributeAtIndex(function: Ref, index: c_uint, kind: c_uint) -> Ref;
    call_attribute_at = LLVMGetCallSiteEnumAttribute(call: Ref, index: c_uint, kind: c_uint) -> Ref;
    type_attribute = LLVMGetTypeAttributeValue(attribute: Ref) -> Ref;
    remove_attribute = LLVMRemoveEnumAttributeAtIndex(function: Ref, index: c_uint, kind: c_uint);
    remove_call_attribute = LLVMRemoveCallSiteEnumAttribute(call: Ref, index: c_uint, kind: c_uint);
    set_function_convention = LLVMSetFunctionCallConv(function: Ref, convention: c_uint);
    set_call_convention = LLVMSetInstructionCallConv(call: Ref, convention: c_uint);
    append_asm = LLVMAppendModuleInlineAsm(module: Ref, text: *const c_char, length: usize);
    run_passes = LLVMRunPasses(module: Ref, passes: *const c_char, machine: Ref, options: Ref) -> Ref;
    create_options = LLVMCreatePassBuilderOptions() -> Ref;
    dispose_options = LLVMDisposePassBuilderOptions(options: Ref);
    error_message = LLVMGetErrorMessage(error: Ref) -> *mut c_char;
    first_use = LLVMGetFirstUse(value: Ref) -> Ref;
    next_use = LLVMGetNextUse(usage: Ref) -> Ref;
    user = LLVMGetUser(usage: Ref) -> Ref;
    struct_name = LLVMGetStructName(ty: Ref) -> *const c_char;
    allocated_type = LLVMGetAllocatedType(alloca: Ref) -> Ref;
    metadata = LLVMGetMetadata(instruction: Ref, kind: c_uint) -> Ref;
    block_of = LLVMGetInstructionParent(instruction: Ref) -> Ref;
    function_of = LLVMGetBasicBlockParent(block: Ref) -> Ref;
    is_conditional = LLVMIsConditional(branch: Ref) -> c_int;
    incoming_count = LLVMCountIncoming(phi: Ref) -> c_uint;
    incoming_value = LLVMGetIncomingValue(phi: Ref, number: c_uint) -> Ref;
    incoming_block = LLVMGetIncomingBlock(phi: Ref, number: c_uint) -> Ref;
    is_a_argument = LLVMIsAArgument(value: Ref) -> Ref;
    is_a_constant = LLVMIsAConstant(value: Ref) -> Ref;
    arguments = LLVMGetNumArgOperands(call: Ref) -> c_uint;
    predicate = LLVMGetICmpPredicate(compare: Ref) -> c_int;
    real_predicate = LLVMGetFCmpPredicate(compare: Ref) -> c_int;
    block_as_value = LLVMBasicBlockAsValue(block: Ref) -> Ref;
    replace_uses = LLVMReplaceAllUsesWith(old: Ref, new: Ref);
    set_operand = LLVMSetOperand(user: Ref, number: c_uint, value: Ref);
    build_alloca = LLVMBuildAlloca(builder: Ref, ty: Ref, name: *const c_char) -> Ref;
    context_of_type = LLVMGetTypeContext(ty: Ref) -> Ref;
    undefined = LLVMGetUndef(ty: Ref) -> Ref;
    is_undefined = LLVMIsUndef(value: Ref) -> c_int;
    erase = LLVMInstructionEraseFromParent(instruction: Ref);
    print_module = LLVMPrintModuleToFile(module: Ref, file: *const c_char, message: *mut *mut c_char) -> c_int;
    verify = LLVMVerifyModule(module: Ref, action: c_int, message: *mut *mut c_char) -> c_int;
    intrinsic_id = LLVMLookupIntrinsicID(name: *const c_char, length: usize) -> c_uint;
    intrinsic = LLVMGetIntrinsicDeclaration(module: Ref, id: c_uint, types: *mut Ref, count: usize) -> Ref;
    debug_location = LLVMInstructionGetDebugLoc(instruction: Ref) -> Ref;
    set_debug_location = LLVMInstructionSetDebugLoc(instruction: Ref, location: Ref);
    create_location = LLVMDIBuilderCreateDebugLocation(context: Ref, line: c_uint, column: c_uint, scope: Ref, inlined_at: Ref) -> Ref;
    location_line = LLVMDILocationGetLine(location: Ref) -> c_uint;
    location_column = LLVMDILocationGetColumn(location: Ref) -> c_uint;
    location_scope = LLVMDILocationGetScope(location: Ref) -> Ref;
    location_inlined_at = LLVMDILocationGetInlinedAt(location: Ref) -> Ref;
    node_tag = LLVMGetDINodeTag(node: Ref) -> u16;
    type_offset = LLVMDITypeGetOffsetInBits(ty: Ref) -> u64;
    type_bits = LLVMDITypeGetSizeInBits(ty: Ref) -> u64;
    type_flags = LLVMDITypeGetFlags(ty: Ref) -> c_int;
    global_metadata = LLVMGlobalCopyAllMetadata(global: Ref, count: *mut usize) -> Ref;
    entry_metadata = LLVMValueMetadataEntriesGetMetadata(entries: Ref, number: c_uint) -> Ref;
    dispose_entries = LLVMDisposeValueMetadataEntries(entries: Ref);
    variable_line = LLVMDIVariableGetLine(variable: Ref) -> c_uint;
    subprogram = LLVMGetSubprogram(function: Ref) -> Ref;
    subprogram_line = LLVMDISubprogramGetLine(subprogram: Ref) -> c_uint;
    scope_file = LLVMDIScopeGetFile(scope: Ref) -> Ref;
    file_name = LLVMDIFileGetFilename(file: Ref, length: *mut c_uint) -> *const c_char;
    file_directory = LLVMDIFileGetDirectory(file: Ref, length: *mut c_uint) -> *const c_char;
    metadata_kind = LLVMGetMetadataKind(metadata: Ref) -> c_uint;
    metadata_as_value = LLVMMetadataAsValue(context: Ref, metadata: Ref) -> Ref;
    value_as_metadata = LLVMValueAsMetadata(value: Ref) -> Ref;
    metadata_operands = LLVMGetMDNodeNumOperands(value: Ref) -> c_uint;
    metadata_operand_list = LLVMGetMDNodeOperands(value: Ref, list: *mut Ref);
    metadata_string = LLVMGetMDString(value: Ref, length: *mut c_uint) -> *const c_char;
    string_metadata = LLVMMDStringInContext2(context: Ref, text: *const c_char, length: usize) -> Ref;
    node_metadata = LLVMMDNodeInContext2(context: Ref, list: *mut Ref, count: usize) -> Ref;
    metadata_kind_id = LLVMGetMDKindIDInContext(context: Ref, name: *const c_char, length: c_uint) -> c_uint;
    set_metadata = LLVMSetMetadata(instruction: Ref, kind: c_uint, value: Ref);
}

/// The functions, if the process has them all; else the name of one that is missing.
pub fn llvm() -> Result<&'static Llvm, &'static str> {
    static LOADED: OnceLock<Result<Llvm, &'static str>> = OnceLock::new();
    LOADED.get_or_init(Llvm::load).as_ref().map_err(|name| *name)
}

/// Has LLVM understand assembly of a target, which flang does not do by itself. A compiler without it says so later.
pub fn initialise_assembly(target: &str) {
    let name =
        if target.starts_with("aarch64") { "LLVMInitializeAArch64AsmParser" } else { "LLVMInitializeX86AsmParser" };
    let function = lookup(name);
    if !function.is_null() {
        // SAFETY: LLVM's function of this name takes and returns nothing, and may be called again.
        let function = unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(function) };
        // SAFETY: as above.
        unsafe { function() };
    }
}

/// True for an `or` of two numbers that have no bit in common, which is their sum. LLVM says so from version 18 on.
pub fn is_disjoint(or: Ref) -> bool {
    let function = lookup("LLVMGetIsDisjoint");
    if function.is_null() {
        return false;
    }
    // SAFETY: LLVM's function of this name has this type.
    let function = unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C" fn(Ref) -> c_int>(function) };
    // SAFETY: the caller gives an `or`.
    unsafe { function(or) != 0 }
}

/// True for a `getelementptr` that leads to no lower address; LLVM has said so since 19.
pub fn never_goes_back(gep: Ref) -> bool {
    /// No unsigned wrap.
    const NUW: c_uint = 1 << 2;
    let function = lookup("LLVMGEPGetNoWrapFlags");
    if function.is_null() {
        return false;
    }
    // SAFETY: LLVM's function of this name has this type.
    let function = unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C" fn(Ref) -> c_uint>(function) };
    // SAFETY: the caller gives a `getelementptr`.
    unsafe { function(gep) & NUW != 0 }
}

/// Opcodes of instructions.
pub mod opcode {
    #![expect(missing_docs, reason = "LLVM's names")]
    pub const RET: i32 = 1;
    pub const BR: i32 = 2;
    pub const SWITCH: i32 = 3;
    pub const UNREACHABLE: i32 = 7;
    pub const ADD: i32 = 8;
    pub const FADD: i32 = 9;
    pub const SUB: i32 = 10;
    pub const FSUB: i32 = 11;
    pub const MUL: i32 = 12;
    pub const FMUL: i32 = 13;
    pub const SHL: i32 = 20;
    pub const LAST_SHIFT: i32 = 22;
    pub const AND: i32 = 23;
    pub const OR: i32 = 24;
    pub const XOR: i32 = 25;
    pub const TRUNC: i32 = 30;
    pub const ZEXT: i32 = 31;
    pub const SEXT: i32 = 32;
    /// Between integers and floating-point numbers.
    pub const ROUNDING: std::ops::RangeInclusive<i32> = 33..=36;
    pub const FIRST_CAST: i32 = 30;
    pub const LAST_CAST: i32 = 41;
    pub const ICMP: i32 = 42;
    pub const FCMP: i32 = 43;
    pub const SELECT: i32 = 46;
    pub const FENCE: i32 = 55;
    pub const FREEZE: i32 = 68;
    pub const RESUME: i32 = 58;
    pub const INVOKE: i32 = 5;
    pub const CALL_BR: i32 = 67;
    pub const ALLOCA: i32 = 26;
    pub const LOAD: i32 = 27;
    pub const STORE: i32 = 28;
    pub const GEP: i32 = 29;
    pub const PTR_TO_INT: i32 = 39;
    pub const INT_TO_PTR: i32 = 40;
    pub const BITCAST: i32 = 41;
    pub const PHI: i32 = 44;
    pub const CALL: i32 = 45;
    pub const CMPXCHG: i32 = 56;
    pub const RMW: i32 = 57;
    pub const EXTRACT_VALUE: i32 = 53;
    pub const INSERT_VALUE: i32 = 54;
    pub const LANDING_PAD: i32 = 59;
    pub const CLEANUP_PAD: i32 = 63;
    pub const CATCH_PAD: i32 = 62;
    pub const CATCH_SWITCH: i32 = 65;
}

/// Operators of atomic operations. `xchg` (0) and `nand` (4) depend on the order.
pub mod rmw {
    #![expect(missing_docs, reason = "LLVM's names")]
    pub const ADD: i32 = 1;
    pub const SUB: i32 = 2;
    pub const AND: i32 = 3;
    pub const OR: i32 = 5;
    pub const XOR: i32 = 6;
    pub const MAX: i32 = 7;
    pub const MIN: i32 = 8;
    pub const UMAX: i32 = 9;
    pub const UMIN: i32 = 10;
    pub const FADD: i32 = 11;
    pub const FSUB: i32 = 12;
    pub const FMAX: i32 = 13;
    pub const FMIN: i32 = 14;
}

/// Kinds of types.
pub mod type_kind {
    #![expect(missing_docs, reason = "LLVM's names")]
    pub const FIRST_FLOAT: i32 = 1;
    pub const DOUBLE: i32 = 3;
    pub const LAST_FLOAT: i32 = 6;
    pub const INTEGER: i32 = 8;
    pub const STRUCT: i32 = 10;
    pub const ARRAY: i32 = 11;
    pub const POINTER: i32 = 12;
    pub const VECTOR: i32 = 13;
    pub const SCALABLE_VECTOR: i32 = 17;
}

/// A text that LLVM owns.
pub fn text(pointer: *const c_char, length: usize) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: LLVM gives out the length with the text, which lives as long as its module.
    let bytes = unsafe { core::slice::from_raw_parts(pointer.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// The same for a text that ends in a zero.
pub fn text_with_zero(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: LLVM's texts without a length end in a zero.
    unsafe { core::ffi::CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

impl Llvm {
    /// Name of a value.
    pub fn name(&self, value: Ref) -> String {
        let mut length = 0;
        let name = self.value_name(value, &raw mut length);
        text(name, length)
    }

    /// Name of a structure; empty for other types.
    pub fn type_name(&self, ty: Ref) -> String {
        if self.type_kind(ty) == type_kind::STRUCT {
            text_with_zero(self.struct_name(ty))
        } else {
            String::new()
        }
    }

    /// What a function may use of the processor beyond what all may.
    pub fn features(&self, function: Ref) -> String {
        const OF_FUNCTION: c_uint = c_uint::MAX;
        let name = c"target-features";
        let length = c_uint::try_from(name.count_bytes()).unwrap_or(0);
        let attribute = self.string_attribute(function, OF_FUNCTION, name.as_ptr(), length);
        if attribute.is_null() {
            return String::new();
        }
        let mut length = 0;
        let value = self.string_value(attribute, &raw mut length);
        text(value, length as usize)
    }

    /// Function that a call names, if it names one.
    pub fn callee(&self, call: Ref) -> Option<Ref> {
        let function = self.is_a_function(self.called_value(call));
        (!function.is_null()).then_some(function)
    }

    /// A constant integer.
    pub fn constant(&self, value: Ref) -> Option<i64> {
        let int = self.is_a_constant_int(value);
        (!int.is_null() && self.int_width(self.type_of(value)) <= 64).then(|| self.sext_value(value))
    }

    /// The member of a structure that an instruction takes out or puts in, if there is one index.
    pub fn first_index(&self, value: Ref) -> Option<u32> {
        // SAFETY: LLVM has as many indices as it says.
        (self.index_count(value) == 1).then(|| unsafe { *self.indices(value) })
    }

    /// Context of a value.
    pub fn context_of_value(&self, value: Ref) -> Ref {
        self.context_of_type(self.type_of(value))
    }

    /// Instructions of a block.
    pub fn instructions(&self, block: Ref) -> Vec<Ref> {
        list(self.first_instruction(block), |instruction| self.next_instruction(instruction))
    }

    /// Blocks of a function.
    pub fn blocks(&self, function: Ref) -> Vec<Ref> {
        list(self.first_block(function), |block| self.next_block(block))
    }

    /// Functions of a module.
    pub fn functions(&self, module: Ref) -> Vec<Ref> {
        list(self.first_function(module), |function| self.next_function(function))
    }
}

fn list(first: Ref, next: impl Fn(Ref) -> Ref) -> Vec<Ref> {
    core::iter::successors((!first.is_null()).then_some(first), |current| {
        let following = next(*current);
        (!following.is_null()).then_some(following)
    })
    .collect()
}
