// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#![no_std]

/// The number in a text of digits.
const fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut value = 0;
    let mut i = 0;
    while i < bytes.len() {
        value = 10 * value + (bytes[i] - b'0') as usize;
        i += 1;
    }
    value
}

const LANES: usize = number(env!("LANES"));

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}

/// # Safety
/// `x` and `y` point to `n` elements, `total` to one.
#[no_mangle]
pub unsafe extern "C" fn dot_rust(n: i32, x: *const f32, y: *const f32, total: *mut f32) {
    let x = core::slice::from_raw_parts(x, n as usize);
    let y = core::slice::from_raw_parts(y, n as usize);
    let mut lanes = [0.0f32; LANES];
    let (a, b) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(p, q)| p * q).sum();
    for (p, q) in a.zip(b) {
        for i in 0..LANES {
            lanes[i] += p[i] * q[i];
        }
    }
    *total = rest + lanes.iter().sum::<f32>();
}
