//! Ten seeded defects, each rejected for the right reason at the right line.
