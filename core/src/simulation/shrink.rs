//! Makes a world that fails smaller, while it fails.

use super::{Part, Plan, play};

/// A smaller world that fails, too: with fewer steps, without parts that the failure does not need, and without steps that it does not
/// need. `told` hears of each smaller one. At most `trials` worlds are played.
pub fn shrink(plan: &Plan, trials: usize, told: &mut dyn FnMut(&Plan)) -> Plan {
    let mut shrinking = Shrinking { best: plan.clone(), left: trials, told };
    if let Some(shorter) = shrinking.failing(&plan.clone()) {
        shrinking.best = shorter;
    }
    shrinking.shorten();
    for part in Part::ALL {
        let mut smaller = shrinking.best.clone();
        smaller.without.push(*part);
        shrinking.consider(&smaller);
    }
    shrinking.leave_out();
    shrinking.best
}

struct Shrinking<'a> {
    best: Plan,
    left: usize,
    told: &'a mut dyn FnMut(&Plan),
}

impl Shrinking<'_> {
    /// The plan up to where it fails; `None` if it does not.
    fn failing(&mut self, plan: &Plan) -> Option<Plan> {
        self.left = self.left.checked_sub(1)?;
        let failure = play(plan).failure?;
        let steps = plan.steps.min(failure.step + 1);
        let only = plan.only.as_ref().map(|only| only.range(..steps).copied().collect());
        Some(Plan { steps, only, ..plan.clone() })
    }

    fn consider(&mut self, smaller: &Plan) -> bool {
        let Some(failing) = self.failing(smaller) else { return false };
        self.best = failing;
        (self.told)(&self.best);
        true
    }

    /// What fails in the end may do so after fewer steps.
    fn shorten(&mut self) {
        let mut most = self.best.steps;
        let mut least = 0;
        while most - least > 1 && self.left > 0 {
            let middle = least + (most - least) / 2;
            if self.consider(&Plan { steps: middle, ..self.best.clone() }) {
                most = self.best.steps.min(middle);
            } else {
                least = middle;
            }
        }
    }

    /// Leaves out ever smaller groups of steps.
    fn leave_out(&mut self) {
        let mut size = self.best.taken().count().div_ceil(2);
        while size > 0 && self.left > 0 {
            let mut from = 0;
            loop {
                let steps: Vec<u64> = self.best.taken().collect();
                if from >= steps.len() || self.left == 0 {
                    break;
                }
                let to = (from + size).min(steps.len());
                let rest = steps[..from].iter().chain(&steps[to..]).copied().collect();
                if !self.consider(&Plan { only: Some(rest), ..self.best.clone() }) {
                    from = to;
                }
            }
            size /= 2;
        }
    }
}
