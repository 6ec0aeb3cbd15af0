//! Leaves out of the module what the program never runs, and the words of panics.
//!
//! Leptos keeps a table of functions for every view whose type is erased, and neither compiler nor wasm-opt can see that
//! some of them are never called. A panic ends the program, and the words that it would say go nowhere in a browser. The bodies
//! of all these functions are replaced by a trap, which is how a panic ends too, and what only they used goes with them.

use anyhow::{Context, Result};
use walrus::{FunctionBuilder, FunctionId, FunctionKind, Module, ModuleConfig, ValType};

/// Part of the names of functions that are never called: those that take over a view whose code comes later. No page is lazy.
///
/// The name must say enough to be of these functions only. The compiler keeps one of several functions that are alike, under
/// the name of any of them, so that a shorter name would meet functions that are called.
const NEVER_RUN: [&str; 2] = [
    // Makes the future for a table of functions; nothing else has the same tables in it.
    "IntoAny$GT$8into_any13hydrate_async17h",
    // What that future does.
    "IntoAny$GT$8into_any13hydrate_async28_$u7b$$u7b$closure$u7d$$u7d$17h",
];

/// The module without them, and how many they were.
///
/// # Errors
/// When the module can't be read.
pub fn leave_out(bytes: &[u8]) -> Result<(Module, usize)> {
    let mut module = ModuleConfig::new()
        // What LLVM writes is well-formed.
        .strict_validate(false)
        .generate_producers_section(false)
        .parse(bytes)
        .context("could not read the module")?;
    let found: Vec<FunctionId> = module
        .funcs
        .iter_local()
        .filter(|(id, _)| {
            let name = module.funcs.get(*id).name.as_deref();
            name.is_some_and(is_never_run)
        })
        .map(|(id, _)| id)
        .collect();
    for &id in &found {
        trap(&mut module, id);
    }
    Ok((module, found.len()))
}

/// Parts of the names of functions of the standard library that only make a panic's words and then panic.
const PANICS: [&str; 8] = [
    "4core9panicking9panic_fmt",
    "4core9panicking18panic_bounds_check",
    "4core6result13unwrap_failed",
    "4core6option13expect_failed",
    "4core6option13unwrap_failed",
    "4core3str16slice_error_fail",
    "4core9panicking13assert_failed",
    "4core4cell22panic_already_borrowed",
];

/// Stands for what is left out, so that another list makes another bundle.
pub fn names() -> String {
    format!("{} {}", NEVER_RUN.join(" "), PANICS.join(" "))
}

fn is_never_run(name: &str) -> bool {
    NEVER_RUN
        .iter()
        .chain(&PANICS)
        .any(|part| name.contains(part))
}

fn trap(module: &mut Module, id: FunctionId) {
    let (params, results) = module.types.params_results(module.funcs.get(id).ty());
    let (params, results): (Vec<ValType>, Vec<ValType>) = (params.to_vec(), results.to_vec());
    let mut builder = FunctionBuilder::new(&mut module.types, &params, &results);
    builder.func_body().unreachable();
    let args = params.iter().map(|ty| module.locals.add(*ty)).collect();
    module.funcs.get_mut(id).kind = FunctionKind::Local(builder.local_func(args));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with two exported functions that give 7.
    fn module(names: [&str; 2]) -> Vec<u8> {
        let mut module = Module::default();
        for name in names {
            let mut builder =
                FunctionBuilder::new(&mut module.types, &[ValType::I32], &[ValType::I32]);
            builder.name(name.to_owned()).func_body().i32_const(7);
            let arg = module.locals.add(ValType::I32);
            let id = builder.finish(vec![arg], &mut module.funcs);
            module.exports.add(name, id);
        }
        module.emit_wasm()
    }

    #[test]
    fn what_is_never_run_becomes_a_trap_and_the_rest_stays() {
        let never = "_ZN66_$LT$T$u20$as$u20$IntoAny$GT$8into_any13hydrate_async17hf1E";
        let bytes = module([never, "hydrate_async"]);
        let (left, count) = leave_out(&bytes).unwrap();
        assert_eq!(count, 1);
        let is_trap = |name: &str| {
            let id = left.exports.get_func(name).unwrap();
            let function = left.funcs.get(id).kind.unwrap_local();
            let block = function.block(function.entry_block());
            matches!(
                block.instrs.first(),
                Some((walrus::ir::Instr::Unreachable(_), _))
            )
        };
        assert!(is_trap(never) && !is_trap("hydrate_async"));
    }

    #[test]
    fn what_is_no_module_is_refused() {
        assert!(leave_out(b"seatflow").is_err());
    }
}
