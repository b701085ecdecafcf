//! Headers of the embedded SDK that declare the API.

macro_rules! header {
    ($name:literal) => {
        include_str!(concat!("../../../../sdk/include/ascendc/", $name))
    };
}

/// Their texts.
pub(super) const HEADERS: [&str; 19] = [
    header!("atomic.h"),
    header!("block_info.h"),
    header!("data_copy.h"),
    header!("gather.h"),
    header!("mask.h"),
    header!("scalar.h"),
    header!("sort.h"),
    header!("sync.h"),
    header!("tensor.h"),
    header!("tpipe.h"),
    header!("tque.h"),
    header!("transpose.h"),
    header!("vec_binary.h"),
    header!("vec_cast.h"),
    header!("vec_compare_select.h"),
    header!("vec_duplicate.h"),
    header!("vec_reduce.h"),
    header!("vec_scalar.h"),
    header!("vec_unary.h"),
];
