//! Tiling functions that came of one another: a population in islands, each of which goes its own way until the best of another visits.

use serde::Serialize;

/// What became of a member.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "fate", rename_all = "kebab-case")]
pub enum Fate {
    /// Nothing was heard of it yet.
    Open,
    /// It is right on all cases; the operator as it was takes so many times as long as with it.
    Right {
        /// That ratio.
        speedup: f64,
    },
    /// It was refused, never became a candidate, or was taken back because held-out shapes decided so.
    Refused {
        /// Why.
        why: String,
    },
}

/// One tiling function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Member {
    /// Name of its proposal.
    pub name: String,
    /// What it does otherwise, one line.
    pub title: String,
    /// Name of the one that it came of; none came of the operator as it was.
    pub parent: Option<String>,
    /// Island, from 0.
    pub island: usize,
    /// Generation, from 1.
    pub generation: u32,
    /// What became of it.
    #[serde(flatten)]
    pub fate: Fate,
    /// Its text, between the markers.
    #[serde(skip)]
    pub text: String,
}

/// What the next one is to come of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Brood {
    /// Island.
    pub island: usize,
    /// Generation.
    pub generation: u32,
    /// Parent by name, with its text; none for the function as it stands.
    pub parent: Option<(String, String, f64)>,
    /// Texts of others that are right, with what they bring, the best first.
    pub others: Vec<(String, f64)>,
    /// What was refused last, with why.
    pub refused: Vec<String>,
}

/// All of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Population {
    islands: usize,
    most: u32,
    asked: u32,
    members: Vec<Member>,
}

/// So many generations pass on an island between two visits.
const VISITS: u32 = 3;
/// Other members that a question shows, and refusals.
const SHOWN: usize = 2;
const TOLD: usize = 4;

impl Population {
    /// An empty one, of so many islands, for which so many answers may be asked.
    pub fn new(islands: usize, most: u32) -> Self {
        Self { islands: islands.max(1), most, asked: 0, members: Vec::new() }
    }

    /// Whether another answer may be asked.
    pub fn goes_on(&self) -> bool {
        self.asked < self.most
    }

    /// What the next one is to come of. Islands take turns.
    pub fn next(&mut self) -> Option<Brood> {
        if !self.goes_on() {
            return None;
        }
        let island = self.asked as usize % self.islands;
        let generation = self.asked / u32::try_from(self.islands).unwrap_or(1) + 1;
        self.asked += 1;
        let visited = generation.is_multiple_of(VISITS) && self.islands > 1;
        let from = if visited { (island + self.islands - 1) % self.islands } else { island };
        let parent = self.best(|member| member.island == from).or_else(|| self.best(|member| member.island == island));
        let name = parent.map(|(member, _)| member.name.clone());
        let mut others = self.right();
        others.retain(|(member, _)| Some(&member.name) != name.as_ref());
        let others = others.into_iter().take(SHOWN).map(|(member, speedup)| (member.text.clone(), speedup)).collect();
        let refused = self.members.iter().rev().filter_map(|member| match &member.fate {
            Fate::Refused { why } => Some(format!("{}: {why}", member.title)),
            Fate::Open | Fate::Right { .. } => None,
        });
        let refused = refused.take(TOLD).collect();
        let parent = parent.map(|(member, speedup)| (member.name.clone(), member.text.clone(), speedup));
        Some(Brood { island, generation, parent, others, refused })
    }

    /// Takes one in.
    pub fn born(&mut self, member: Member) {
        self.members.push(member);
    }

    /// Hears what became of one.
    pub fn judged(&mut self, name: &str, fate: Fate) {
        if let Some(member) = self.members.iter_mut().find(|member| member.name == name) {
            member.fate = fate;
        }
    }

    /// All of them, in the order in which they were born.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    fn right(&self) -> Vec<(&Member, f64)> {
        let speedup = |member: &Member| match member.fate {
            Fate::Right { speedup } => Some(speedup),
            Fate::Open | Fate::Refused { .. } => None,
        };
        let mut right: Vec<(&Member, f64)> =
            self.members.iter().filter_map(|member| Some((member, speedup(member)?))).collect();
        right.sort_by(|left, right| right.1.total_cmp(&left.1));
        right
    }

    fn best(&self, wanted: impl Fn(&Member) -> bool) -> Option<(&Member, f64)> {
        self.right().into_iter().find(|(member, _)| wanted(member))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A population in which every child is as good as `speedup` says, or refused where it says nothing.
    fn grown(islands: usize, speedups: &[Option<f64>]) -> Population {
        let mut population = Population::new(islands, 100);
        for (place, speedup) in speedups.iter().enumerate() {
            let brood = population.next().unwrap();
            let name = format!("model-{}", place + 1);
            let fate = match speedup {
                Some(speedup) => Fate::Right { speedup: *speedup },
                None => Fate::Refused { why: "wrong".to_owned() },
            };
            population.born(Member {
                name: name.clone(),
                title: format!("t{place}"),
                parent: brood.parent.map(|(parent, ..)| parent),
                island: brood.island,
                generation: brood.generation,
                fate: Fate::Open,
                text: format!("x{place}"),
            });
            population.judged(&name, fate);
        }
        population
    }

    #[test]
    fn islands_take_turns_and_go_on_from_their_best() {
        let population = grown(2, &[Some(1.1), Some(1.3), Some(1.05), None]);
        let of: Vec<(usize, u32, Option<&str>)> = population
            .members()
            .iter()
            .map(|member| (member.island, member.generation, member.parent.as_deref()))
            .collect();
        assert_eq!(of, [(0, 1, None), (1, 1, None), (0, 2, Some("model-1")), (1, 2, Some("model-2"))]);
    }

    #[test]
    fn the_best_of_another_island_visits_and_what_was_refused_is_told() {
        let mut population = grown(2, &[Some(1.1), Some(1.3), Some(1.05), None]);
        let brood = population.next().unwrap();
        assert_eq!(brood.parent, Some(("model-2".to_owned(), "x1".to_owned(), 1.3)), "generation 3 is a visit");
        assert_eq!(brood.others, [("x0".to_owned(), 1.1), ("x2".to_owned(), 1.05)]);
        assert_eq!(brood.refused, ["t3: wrong"]);
        // What was taken back has no children any more.
        population.judged("model-2", Fate::Refused { why: "wrong on a probe".to_owned() });
        assert_eq!(population.next().unwrap().parent.unwrap().0, "model-1");
    }

    #[test]
    fn it_ends_with_its_answers() {
        let mut population = Population::new(0, 2);
        assert!(population.next().is_some() && population.next().is_some() && !population.goes_on());
        assert_eq!(population.next(), None);
    }
}
