//! LOOPS (seeds/000): row boundary and the quadratic performance model.
