//! Random programs: what they are made of, and how they come about.

use super::language::Language;
use super::Random;

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    X,
    Y,
    N,
    Global,
    /// Counter of the loop at a depth.
    Counter(usize),
}

#[derive(Clone, Debug)]
pub(super) enum Expression {
    Number(u32),
    Read(usize, Variable),
    /// Element of an array, or of what the parameter points to.
    Element(usize, Array, Box<Expression>),
    Sum(Box<Expression>, Box<Expression>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Array {
    A,
    B,
    /// By the parameter `p`: the number is the site of its own read.
    Parameter(usize),
}

#[derive(Clone, Debug)]
pub(super) enum Target {
    Variable(Variable),
    Element(Array, Expression),
}

#[derive(Clone, Debug)]
pub(super) enum Statement {
    Assign { line: u32, site: usize, target: Target, value: Expression },
    For { line: u32, sites: [usize; 5], depth: usize, times: u32, body: Vec<Statement> },
    If { line: u32, condition: Expression, body: Vec<Statement> },
    Call { line: u32, function: usize, array: Array, offset: u32, value: Expression },
}

#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    /// Sites of the parameters and of both locals.
    pub(super) sites: [usize; 4],
    pub(super) line: u32,
    pub(super) body: Vec<Statement>,
}

pub(super) struct Writer {
    pub(super) random: Random,
    pub(super) text: String,
    pub(super) line: u32,
    pub(super) program: u64,
    sites: usize,
    language: Language,
}

impl Writer {
    pub(super) fn new(language: Language, seed: u64) -> Writer {
        Writer { random: Random(seed), text: String::new(), line: 0, program: 0, sites: 0, language }
    }

    pub(super) fn put(&mut self, text: &str) -> u32 {
        self.text.push_str(text);
        self.text.push('\n');
        self.line += 1;
        self.line
    }

    fn site(&mut self) -> usize {
        self.sites += 1;
        self.sites
    }

    fn variable(&mut self, depth: usize) -> Variable {
        match self.random.below(if depth == 0 { 4 } else { 7 }) {
            0 => Variable::X,
            1 => Variable::Y,
            2 => Variable::N,
            3 => Variable::Global,
            _ => Variable::Counter(usize::try_from(self.random.below(depth as u64)).expect("small")),
        }
    }

    fn array(&mut self, is_main: bool) -> Array {
        match self.random.below(if is_main { 2 } else { 4 }) {
            0 => Array::A,
            1 => Array::B,
            _ => Array::Parameter(self.site()),
        }
    }

    fn expression(&mut self, depth: usize, size: u32, is_main: bool) -> Expression {
        match self.random.below(if size == 0 { 2 } else { 5 }) {
            0 => Expression::Number(u32::try_from(self.random.below(9)).expect("small")),
            1 | 2 => Expression::Read(self.site(), self.variable(depth)),
            3 => {
                let site = self.site();
                let array = self.array(is_main);
                Expression::Element(site, array, Box::new(self.expression(depth, size - 1, is_main)))
            }
            _ => {
                let left = Box::new(self.expression(depth, size - 1, is_main));
                Expression::Sum(left, Box::new(self.expression(depth, size - 1, is_main)))
            }
        }
    }

    fn name(&self, variable: Variable) -> String {
        match variable {
            Variable::X => "x".into(),
            Variable::Y => "y".into(),
            Variable::N => "n".into(),
            Variable::Global => format!("g{}", self.program),
            Variable::Counter(depth) => format!("i{depth}"),
        }
    }

    fn element(&self, array: Array, index: &Expression) -> String {
        self.language.element(
            &self.array_name(array),
            &self.show(index),
            if let Array::Parameter(_) = array { 3 } else { 7 },
        )
    }

    fn array_name(&self, array: Array) -> String {
        match array {
            Array::A => format!("A{}", self.program),
            Array::B => format!("B{}", self.program),
            Array::Parameter(_) => "p".into(),
        }
    }

    fn show(&self, expression: &Expression) -> String {
        match expression {
            Expression::Number(number) => number.to_string(),
            Expression::Read(_, Variable::Global) => self.language.read(&self.name(Variable::Global)),
            Expression::Read(_, variable) => self.name(*variable),
            Expression::Element(_, array, index) => self.language.read(&self.element(*array, index)),
            Expression::Sum(left, right) => format!("{} + {}", self.show(left), self.show(right)),
        }
    }

    fn block(&mut self, depth: usize, nested: u32, callees: &[usize], is_main: bool) -> Vec<Statement> {
        let count = 1 + self.random.below(4);
        (0..count).map(|_| self.statement(depth, nested, callees, is_main)).collect()
    }

    fn statement(&mut self, depth: usize, nested: u32, callees: &[usize], is_main: bool) -> Statement {
        let kind = self.random.below(9);
        match kind {
            0 | 1 if nested < 3 => {
                // Some are long enough for iterations to be taken together.
                let most = if nested > 0 && self.random.below(4) == 0 { 24 } else { 4 };
                let times = 1 + u32::try_from(self.random.below(most)).expect("small");
                let line = self.put(&self.language.begin_for(depth, times));
                let sites = [0; 5].map(|_| self.site());
                let body = self.block(depth + 1, nested + 1, callees, is_main);
                self.put(self.language.end_for());
                Statement::For { line, sites, depth, times, body }
            }
            2 if nested < 3 => {
                let condition = self.expression(depth, 1, is_main);
                // What is known beforehand is no condition, and compilers take it away.
                let read = Box::new(Expression::Read(self.site(), Variable::X));
                let condition = Expression::Sum(Box::new(condition), read);
                let line = self.put(&self.language.begin_if(&self.show(&condition)));
                let body = self.block(depth, nested + 1, callees, is_main);
                self.put(self.language.end_if());
                Statement::If { line, condition, body }
            }
            3 | 4 if !callees.is_empty() => {
                let chosen = self.random.below(callees.len() as u64);
                let function = callees[usize::try_from(chosen).expect("small")];
                let array = self.array(is_main);
                let offset = u32::try_from(self.random.below(2)).expect("small") * 4;
                let offset = if matches!(array, Array::Parameter(_)) { 0 } else { offset };
                let value = self.expression(depth, 1, is_main);
                let base = match array {
                    Array::Parameter(_) => "p".to_owned(),
                    _ => self.language.address(&self.array_name(array), offset),
                };
                let name = format!("f{}_{function}", self.program);
                let line = self.put(&self.language.call(&name, &base, &self.show(&value)));
                Statement::Call { line, function, array, offset, value }
            }
            _ => {
                let value = self.expression(depth, 2, is_main);
                let target = match self.random.below(3) {
                    0 => {
                        let array = self.array(is_main);
                        Target::Element(array, self.expression(depth, 1, is_main))
                    }
                    1 => Target::Variable(Variable::Global),
                    _ => Target::Variable(if self.random.below(2) == 0 { Variable::X } else { Variable::Y }),
                };
                let left = match &target {
                    Target::Variable(variable) => self.name(*variable),
                    Target::Element(array, index) => self.element(*array, index),
                };
                let site = self.site();
                let is_memory = !matches!(target, Target::Variable(Variable::X | Variable::Y));
                let line = self.put(&self.language.assign(&left, &self.show(&value), is_memory));
                Statement::Assign { line, site, target, value }
            }
        }
    }

    pub(super) fn program(&mut self) -> Vec<Function> {
        self.put(&self.language.declarations(self.program));
        let mut functions = Vec::new();
        for number in 0..3_usize {
            let is_main = number == 2;
            let name = format!("f{}_{number}", self.program);
            self.put(&self.language.begin_function(&name, is_main));
            let line = self.put(&self.language.locals(is_main));
            let sites = [0; 4].map(|_| self.site());
            let callees: Vec<usize> = (0..number).collect();
            let mut body = self.block(0, 0, &callees, is_main);
            body.extend(self.block(0, 0, &callees, is_main));
            self.put(self.language.end_function());
            functions.push(Function { name, sites, line, body });
        }
        functions
    }
}
