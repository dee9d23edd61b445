//! `railgate sim --seed`: plays whole deployments from a number, and finds what does not hold.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant};

use railgate::simulation::{Failure as Broken, Part, Plan, Played, STEPS, Story, play, shrink};

use super::failure::{Done, Failure};
use super::terminal::{Terminal, Tone, note};

pub(super) const EXAMPLES: &str = "\
Examples:
  railgate sim --seed 7
  railgate sim --seed 1 --steps 10000000
  railgate sim --seed 7 --settlement live-0-3
  railgate sim --seed 7 --without crashes,store
  railgate sim scenarios

With --seed, a deployment of several nodes is played in this process, and everything that must hold is checked.
No server is needed. The same seed is the same deployment. A run of more than 2,000 steps plays several, one on
each core; one that fails is made smaller, and the command that plays it again is printed.";

/// How often a long run says how far it is.
const SAY_EVERY: Duration = Duration::from_secs(5);
/// How many worlds are played at most to make one that fails smaller.
const TRIALS: usize = 400;

#[derive(Debug, clap::Args)]
pub(super) struct SimulateArgs {
    /// Play a whole deployment from this number
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// How many steps are played in all [default: 2000]
    #[arg(long, value_name = "NUMBER", requires = "seed")]
    steps: Option<u64>,
    /// Tell what happens to this settlement: its reference or id, or `all` for everything
    #[arg(long, value_name = "REF", requires = "seed")]
    settlement: Option<String>,
    /// Leave out parts of the world
    #[arg(long, value_name = "PARTS", requires = "seed", value_delimiter = ',', value_parser = super::sim::names(Part::ALL, Part::as_str))]
    without: Vec<String>,
    /// Take only these steps
    #[arg(long, value_name = "STEPS", requires = "seed", value_delimiter = ',')]
    only: Option<Vec<u64>>,
    /// Lose acknowledged commits when a standby takes over, as without synchronous replication: it must fail
    #[arg(long, requires = "seed")]
    lose_acknowledged: bool,
}

impl SimulateArgs {
    /// What is to be played, if anything is.
    pub(super) fn plan(&self) -> Option<Plan> {
        let story = match self.settlement.as_deref() {
            None => Story::Nothing,
            Some("all") => Story::All,
            Some(reference) => Story::Of(reference.to_owned()),
        };
        Some(Plan {
            seed: self.seed?,
            steps: self.steps.unwrap_or(STEPS),
            without: self.without.iter().filter_map(|name| Part::from_name(name)).collect(),
            only: self.only.as_ref().map(|only| only.iter().copied().collect()),
            story,
            lose_acknowledged: self.lose_acknowledged,
        })
    }
}

pub(super) fn run(plan: &Plan, terminal: &Terminal) -> Done {
    // What panics is reported as what does not hold.
    std::panic::set_hook(Box::new(|_| {}));
    let (begun, mut said) = (Instant::now(), Instant::now());
    let (mut steps, mut commits, mut settlements, mut played) = (0, 0, 0, 0);
    let mut broken: Option<(Plan, Broken)> = None;
    each_world(plan, |world, end| {
        tell(&end, terminal)?;
        if let Some(failure) = end.failure {
            // Others may be under way that began earlier.
            if broken.as_ref().is_none_or(|(first, _)| world.seed < first.seed) {
                broken = Some((world, failure));
            }
            return Ok(false);
        }
        steps += world.steps;
        commits += end.commits;
        settlements += end.settlements;
        played += 1;
        if said.elapsed() > SAY_EVERY {
            said = Instant::now();
            note(format_args!("{steps} steps in {played} worlds, {} steps a minute", a_minute(steps, begun.elapsed())));
        }
        Ok(true)
    })?;
    if let Some((world, failure)) = &broken {
        return Err(report(world, failure, terminal)?);
    }
    let seeds = if played == 1 { format!("seed {}", plan.seed) } else { format!("seeds {} to {}", plan.seed, plan.seed + played - 1) };
    terminal.line(format_args!(
        "{} {seeds}: {steps} steps, {commits} commits, {settlements} settlements, {} steps a minute: everything holds",
        terminal.paint(Tone::Good, "✓"),
        a_minute(steps, begun.elapsed())
    ))
}

/// Plays as many worlds as the steps need, each in one thread, on all cores, or one after the other if their stories are told. No more
/// begin once `goes_on` has said so of one.
fn each_world(plan: &Plan, mut goes_on: impl FnMut(Plan, Played) -> Done<bool>) -> Done {
    let worlds = plan.steps.div_ceil(STEPS);
    let cores = if plan.story == Story::Nothing { std::thread::available_parallelism().map_or(1, usize::from) } else { 1 };
    let (next, (sender, ended)) = (AtomicU64::new(0), mpsc::channel());
    let work = |sender: Sender<(Plan, Played)>| {
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            if n >= worlds {
                return;
            }
            let world = Plan { seed: plan.seed + n, steps: STEPS.min(plan.steps - n * STEPS), ..plan.clone() };
            let played = Played { end: None, ..play(&world) };
            if sender.send((world, played)).is_err() {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..cores {
            let sender = sender.clone();
            scope.spawn(|| work(sender));
        }
        drop(sender);
        for (world, played) in ended {
            if !goes_on(world, played)? {
                next.store(worlds, Ordering::Relaxed);
            }
        }
        Ok(())
    })
}

fn a_minute(steps: u64, took: Duration) -> u128 {
    u128::from(steps) * 60_000 / took.as_millis().max(1)
}

fn tell(played: &Played, terminal: &Terminal) -> Done {
    played.story.iter().try_for_each(|line| terminal.line(line))
}

/// What is left of a world that fails, in one line.
fn smaller_by(plan: &Plan) -> String {
    match &plan.only {
        None => format!("railgate sim {plan}"),
        Some(only) => format!("{} of its first {} steps", only.len(), plan.steps),
    }
}

/// Makes a world that fails smaller, and tells what happens in it.
fn report(world: &Plan, broken: &Broken, terminal: &Terminal) -> Done<Failure> {
    let failure = Failure::new(format!("step {} of seed {}: {}", broken.step, world.seed, broken.said));
    if world.only.is_some() {
        return Ok(failure);
    }
    note("it is made smaller");
    let smaller = shrink(&Plan { story: Story::Nothing, ..world.clone() }, TRIALS, &mut |plan| note(smaller_by(plan)));
    let again = play(&Plan { story: Story::All, ..smaller.clone() });
    tell(&again, terminal)?;
    let said = again.failure.map_or_else(String::new, |broken| format!("step {}: {}", broken.step, broken.said));
    Ok(failure.detail(format!("made smaller: {said}")).hint(format!("play it again: railgate sim {smaller}")))
}
