// Calls an op of a collection from Rust, with the standard library only. docs/calling.md explains it.
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::process::ExitCode;
use std::ptr::{null, null_mut};

#[repr(C)]
#[derive(Clone, Copy)]
union Content {
    int: i64,
    float: f64,
    pointer: *const c_void,
}

/// TVMFFIAny: a value, and what it is.
#[repr(C)]
#[derive(Clone, Copy)]
struct Value {
    kind: i32,
    padding: u32,
    content: Content,
}

const NONE: Value = Value {
    kind: 0,
    padding: 0,
    content: Content { int: 0 },
};

fn int(int: i64) -> Value {
    Value {
        kind: 1,
        content: Content { int },
        ..NONE
    }
}

fn float(float: f64) -> Value {
    Value {
        kind: 3,
        content: Content { float },
        ..NONE
    }
}

fn array(tensor: &Tensor) -> Value {
    let pointer = tensor as *const Tensor as *const c_void;
    Value {
        kind: 7,
        content: Content { pointer },
        ..NONE
    }
}

fn text(text: &CStr) -> Value {
    let pointer = text.as_ptr() as *const c_void;
    Value {
        kind: 8,
        content: Content { pointer },
        ..NONE
    }
}

/// DLTensor of float32 on the CPU; no strides mean a dense one.
#[repr(C)]
struct Tensor {
    data: *const c_void,
    device: [i32; 2],
    dims: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    offset: u64,
}

fn tensor(data: *const f32, shape: &[i64]) -> Tensor {
    Tensor {
        data: data as *const c_void,
        device: [1, 0],
        dims: shape.len() as i32,
        code: 2,
        bits: 32,
        lanes: 1,
        shape: shape.as_ptr(),
        strides: null(),
        offset: 0,
    }
}

/// TVMFFIByteArray: a text.
#[repr(C)]
struct Bytes {
    data: *const u8,
    size: usize,
}

impl Bytes {
    unsafe fn text(&self) -> String {
        String::from_utf8_lossy(std::slice::from_raw_parts(self.data, self.size)).into_owned()
    }
}

/// The beginning of an object that is an error: its class and its text lie behind the header.
#[repr(C)]
struct Raised {
    header: [u64; 3],
    class: Bytes,
    message: Bytes,
}

type Function = unsafe extern "C" fn(*mut c_void, *const Value, i32, *mut Value) -> c_int;

#[link(name = "tvm_ffi")]
extern "C" {
    fn TVMFFIErrorMoveFromRaised(error: *mut *mut Raised);
    fn TVMFFIObjectDecRef(object: *mut Raised) -> c_int;
}

extern "C" {
    fn dlopen(path: *const c_char, mode: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Returns the text of the error, if there is one.
unsafe fn call(function: Function, arguments: &[Value]) -> Result<(), String> {
    let mut result = NONE;
    if function(
        null_mut(),
        arguments.as_ptr(),
        arguments.len() as i32,
        &mut result,
    ) == 0
    {
        return Ok(());
    }
    let mut error = null_mut();
    TVMFFIErrorMoveFromRaised(&mut error);
    let said = format!("{}: {}", (*error).class.text(), (*error).message.text());
    TVMFFIObjectDecRef(error);
    Err(said)
}

fn main() -> ExitCode {
    let path = CString::new(std::env::args().nth(1).unwrap_or("/".into())).unwrap();
    let address = unsafe {
        dlsym(
            dlopen(path.as_ptr(), 2),
            c"__tvm_ffi__opcast_op_call".as_ptr(),
        )
    };
    if address.is_null() {
        eprintln!("usage: main LIBRARY");
        return ExitCode::from(2);
    }
    let op_call: Function = unsafe { std::mem::transmute(address) };
    let (rows, ones, mut normal) = ([3f32, 4., 6., 8.], [1f32, 1.], [0f32; 4]);
    let (x, weight) = (tensor(rows.as_ptr(), &[2, 2]), tensor(ones.as_ptr(), &[2]));
    let y = tensor(normal.as_mut_ptr(), &[2, 2]);

    // The op, the numbers of inputs, outputs and scratch arrays, these arrays, then names and values.
    let mut arguments = [
        text(c"rms_norm"),
        int(2),
        int(1),
        int(0),
        array(&x),
        array(&weight),
        array(&y),
        text(c"eps"),
        float(0.5),
    ];
    for eps in [0.5, -1.0] {
        arguments[8] = float(eps);
        match unsafe { call(op_call, &arguments) } {
            Ok(()) => println!("{normal:?}"),
            Err(error) => println!("{error}"), // the op refuses a negative one
        }
    }
    ExitCode::SUCCESS
}
