//! Which operands of an Ascend C call are read and which are written.

/// How a call touches a tensor operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Reads it.
    Read,
    /// Overwrites it.
    Write,
    /// Reads and writes it.
    ReadWrite,
    /// Hands it to a queue: `EnQue`, `FreeTensor`.
    Release,
    /// Asks for something that is not data: `GetSize`.
    None,
    /// Unknown: it may be read, written or kept.
    Escape,
}

/// Kinds of vector calls whose element count is the last plain argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `Op(dst, src0, src1, count)`
    Binary,
    /// `Op(dst, src, count)`
    Unary,
    /// `Op(dst, src, scalar, count)`
    Scalar,
}

/// The form of a vector instruction call, if the name is one.
pub fn vector_shape(name: &str) -> Option<Shape> {
    Some(match name {
        "Add" | "Sub" | "Mul" | "Div" | "Max" | "Min" | "And" | "Or" | "AddRelu" | "SubRelu" => Shape::Binary,
        "Exp" | "Ln" | "Abs" | "Reciprocal" | "Sqrt" | "Rsqrt" | "Not" | "Relu" => Shape::Unary,
        "Adds" | "Muls" | "Maxs" | "Mins" | "LeakyRelu" | "ShiftLeft" | "ShiftRight" => Shape::Scalar,
        _ => return None,
    })
}

/// Access of the argument at `index` of a free call with `count` arguments.
pub fn argument_access(name: &str, index: usize) -> Access {
    let written_first = |reads: usize| match index {
        0 => Access::Write,
        index if index <= reads => Access::Read,
        _ => Access::Escape,
    };
    match name {
        _ if vector_shape(name) == Some(Shape::Binary) => written_first(2),
        _ if vector_shape(name).is_some() => written_first(1),
        "Axpy" if index == 0 => Access::ReadWrite,
        "Axpy" => written_first(1),
        "MulAddDst" | "FusedMulAdd" | "FusedMulAddRelu" if index == 0 => Access::ReadWrite,
        "MulAddDst" | "FusedMulAdd" | "FusedMulAddRelu" => written_first(2),
        "Duplicate" | "CreateVecIndex" | "ArithProgression" => written_first(0),
        "Cast" | "DataCopy" | "DataCopyPad" | "Brcb" | "CompareScalar" => written_first(1),
        "Transpose" | "TransDataTo5HD" => written_first(1),
        "Compare" | "Gather" | "Gatherb" | "Sort32" => written_first(2),
        "AddReluCast" | "SubReluCast" | "MulCast" => written_first(2),
        "Sort" => match index {
            0 | 3 => Access::Write,
            1 | 2 => Access::Read,
            _ => Access::Escape,
        },
        "Extract" => match index {
            0 | 1 => Access::Write,
            2 => Access::Read,
            _ => Access::Escape,
        },
        "Select" => written_first(3),
        "ReduceSum" | "ReduceMax" | "ReduceMin" => match index {
            0 | 2 => Access::Write,
            1 => Access::Read,
            _ => Access::Escape,
        },
        "WholeReduceSum" | "WholeReduceMax" | "WholeReduceMin" | "BlockReduceSum" | "BlockReduceMax"
        | "BlockReduceMin" | "PairReduceSum" | "RepeatReduceSum" => written_first(1),
        _ => Access::Escape,
    }
}

/// Whether the call overwrites its first operand completely over its count, without reading it.
pub fn overwrites_first(name: &str) -> bool {
    vector_shape(name).is_some() || matches!(name, "Duplicate" | "CreateVecIndex" | "Cast")
}

/// Access by a member call on a tensor.
pub fn member_access(name: &str) -> Access {
    match name {
        "GetValue" => Access::Read,
        "SetValue" => Access::ReadWrite,
        "GetSize" | "GetLength" => Access::None,
        _ => Access::Escape,
    }
}

/// Whether a free call moves data between memories by a DMA pipe.
pub fn is_copy(name: &str) -> bool {
    matches!(name, "DataCopy" | "DataCopyPad" | "LoadData" | "Fixpipe" | "DataCopyExtend")
}
