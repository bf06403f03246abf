//! Objects that operators return by value: in which iteration a variable begins.

use std::ops::{Add, AddAssign, Mul, Sub};

#[derive(Clone, Copy, Default)]
struct Vector {
    x: f64,
    y: f64,
    z: f64,
}

impl Add for Vector {
    type Output = Vector;
    fn add(self, other: Vector) -> Vector {
        Vector { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl Sub for Vector {
    type Output = Vector;
    fn sub(self, other: Vector) -> Vector {
        Vector { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}

impl Mul<f64> for Vector {
    type Output = Vector;
    fn mul(self, by: f64) -> Vector {
        Vector { x: self.x * by, y: self.y * by, z: self.z * by }
    }
}

impl AddAssign for Vector {
    fn add_assign(&mut self, other: Vector) {
        self.x += other.x;
        self.y += other.y;
        self.z += other.z;
    }
}

impl Vector {
    fn dot(self, other: Vector) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }
}

#[derive(Clone, Copy, Default)]
struct Body {
    place: Vector,
    speed: Vector,
    force: Vector,
    mass: f64,
}

fn attract(bodies: &mut [Body]) {
    for _ in 0..3 { // @serial
        for i in 0..bodies.len() { // @parallel
            let mut force = Vector::default();
            for j in 0..bodies.len() { // @clauses
                if i == j {
                    continue;
                }
                let way = bodies[j].place - bodies[i].place;
                let square = way.dot(way) + 1e-9;
                force += way * (bodies[i].mass * bodies[j].mass / (square * square.sqrt()));
            }
            bodies[i].force = force;
        }
        for body in bodies.iter_mut() { // @parallel
            body.speed += body.force * (0.01 / body.mass);
            body.place = body.place + body.speed * 0.01;
        }
    }
}

fn spread(bodies: &[Body]) -> f64 {
    let mut sum = 0.0;
    for (i, body) in bodies.iter().enumerate() { // @clauses
        if i % 3 != 0 {
            let way = body.place - bodies[0].place;
            sum += way.dot(way);
        }
    }
    sum
}

fn centre(bodies: &[Body]) -> Vector {
    let mut centre = Vector::default();
    for body in bodies { // @clauses
        centre += body.place;
    }
    centre * (1.0 / bodies.len() as f64)
}

/// Declared around the loop, and read behind it.
fn last(bodies: &[Body]) -> f64 {
    let mut way = Vector::default();
    for body in bodies { // @clauses
        way = body.place - body.speed;
    }
    way.dot(way)
}

/// What an iteration leaves, the next one takes.
fn chained(bodies: &mut [Body]) -> f64 {
    let mut way = Vector::default();
    for body in bodies.iter_mut() { // @serial
        let next = way + body.place;
        way = next * 0.5;
        body.force = way;
    }
    way.x
}

/// Whole again in some iterations only.
fn sometimes(bodies: &mut [Body]) -> f64 {
    let mut way = Vector::default();
    for i in 0..bodies.len() { // @serial
        if i % 2 == 0 {
            way = bodies[i].place - bodies[i].speed;
        }
        bodies[i].force = way;
    }
    way.y
}

/// One variable for each iteration of the outer loop.
fn nested(bodies: &mut [Body]) {
    for i in 0..bodies.len() { // @parallel
        let mut way = bodies[i].place;
        for _ in 0..4 { // @serial
            let next = way * 0.5 + bodies[i].speed;
            way = next;
        }
        bodies[i].force = way;
    }
}

fn found(bodies: &[Body]) -> (bool, bool) {
    let mut far = false;
    for body in bodies { // @clauses
        far = far || body.place.x > 1e6;
    }
    let mut near = true;
    for body in bodies { // @clauses
        near = near && body.place.x < 1e6;
    }
    (far, near)
}

/// What is found decides what else is done.
fn counted(bodies: &mut [Body]) -> f64 {
    let mut far = false;
    let mut sum = 0.0;
    for body in bodies.iter_mut() { // @serial
        if !far {
            far = body.place.x > 5.0;
            body.mass += 1.0;
            sum += body.mass;
        }
    }
    sum
}

/// What came before decides what is written, also where nothing is found.
fn first(bodies: &[Body]) -> usize {
    let mut far = false;
    let mut at = 0;
    for (i, body) in bodies.iter().enumerate() { // @serial
        if !far {
            far = body.place.x > 1e6;
            at = i;
        }
    }
    at
}

pub fn all() -> f64 {
    let body = |i: u32| {
        let at = |by: u32| f64::from(i * by % 11);
        let place = Vector { x: at(3), y: at(5), z: at(7) };
        Body { place, mass: 1.0 + f64::from(i), ..Body::default() }
    };
    let mut bodies: Vec<Body> = (0..12).map(body).collect();
    attract(&mut bodies);
    let mut sum = spread(&bodies) + centre(&bodies).dot(bodies[1].place) + last(&bodies);
    sum += chained(&mut bodies) + sometimes(&mut bodies) + counted(&mut bodies);
    nested(&mut bodies);
    let (far, near) = found(&bodies);
    sum += first(&bodies) as f64;
    sum + bodies[3].force.x + f64::from(far) + f64::from(near)
}
