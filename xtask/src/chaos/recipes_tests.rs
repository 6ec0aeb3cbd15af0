use super::*;

fn fault(point: &str, number: usize) -> String {
    let settings = recipe(point).first_settings(point, number);
    settings.last().unwrap().1.clone()
}

#[test]
fn runs_die_at_different_passings_and_a_recipe_adds_its_pauses() {
    assert_eq!(fault("place_after_hold", 0), "place_after_hold:2");
    assert_eq!(fault("place_after_hold", 1), "place_after_hold:7");
    assert_eq!(fault("place_after_hold", 3), "place_after_hold:2");
    assert_eq!(
        fault("discard_after_row", 2),
        "discard_after_row:1,place_after_cache:2:1700"
    );
    let plain = recipe("discard_after_row").plain_settings();
    assert!(plain[0].0.ends_with("DISCARD_AFTER_MS"));
}

#[test]
fn where_a_command_dies_the_server_is_not_armed_and_the_commands_before_are_done() {
    let point = "capacity_after_row";
    assert_eq!(fault(point, 0), "");
    let command = |done, has_died| recipe(point).command_fault(point, 0, done, has_died);
    assert_eq!(command(0, false), None);
    let armed = Some("capacity_after_row:1".to_owned());
    assert_eq!(command(1, false), armed);
    assert_eq!(command(4, false), armed, "until one has died");
    assert_eq!(command(4, true), None);
}

#[test]
fn a_server_may_die_over_what_a_dead_command_has_left() {
    let point = "withdraw_before_cancel";
    let recipe = recipe(point);
    assert_eq!(fault(point, 1), "withdraw_before_cancel:1");
    let command = recipe.command_fault(point, 1, 0, false);
    assert_eq!(command.as_deref(), Some("withdraw_after_row:1"));
    assert!(!recipe.is_left_to_the_server(false));
    assert!(recipe.is_left_to_the_server(true));
}

#[test]
fn no_point_has_two_recipes_and_every_death_of_a_command_has_staff_at_work() {
    let points: std::collections::BTreeSet<_> = RECIPES.iter().map(|recipe| recipe.point).collect();
    assert_eq!(points.len(), RECIPES.len());
    let dies =
        |recipe: &&Recipe| recipe.victim == Victim::Command || !recipe.staff_dies_at.is_empty();
    assert!(RECIPES.iter().filter(dies).all(|r| r.staff.is_some()));
}
