//! Random programs of calls, loops and conditions, as C.

pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % most
    }

    fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[usize::try_from(self.below(all.len() as u64)).expect("small")]
    }
}

struct Writer {
    random: Random,
    text: String,
}

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Scope {
    /// Loops around it.
    depth: u64,
    /// Loops and conditions that it may still hold.
    room: u64,
    /// Functions that it may call: those with a lower number.
    function: u64,
}

/// A program.
pub(super) fn program(seed: u64) -> String {
    let mut writer = Writer { random: Random(seed), text: "static unsigned A[8], B[8], g;\n".to_owned() };
    for function in 0..3 {
        writer.put(&format!("static __attribute__((noinline)) unsigned f{function}(unsigned *p, unsigned n) {{"));
        writer.put("unsigned x = 0, y = n;");
        let scope = Scope { depth: 0, room: 2, function };
        for _ in 0..2 + writer.random.below(3) {
            writer.statement(scope);
        }
        let result = writer.expression(scope, 1);
        writer.put(&format!("return {result};\n}}"));
    }
    writer.put("int main(void) {\ng = f2(A, 3);\ng = f1(B, g);\nreturn 0;\n}");
    writer.text
}

impl Writer {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn expression(&mut self, scope: Scope, size: u64) -> String {
        match self.random.below(if size == 0 { 3 } else { 6 }) {
            0 => self.random.below(9).to_string(),
            1 => self.random.of(&["x", "y", "n", "g"]).to_owned(),
            2 if scope.depth > 0 => format!("i{}", self.random.below(scope.depth)),
            2 => "x".to_owned(),
            3 | 4 => self.element(scope, size - 1),
            _ => format!("{} + {}", self.expression(scope, size - 1), self.expression(scope, size - 1)),
        }
    }

    fn element(&mut self, scope: Scope, size: u64) -> String {
        let index = self.expression(scope, size);
        self.random.of(&["A[(#) & 7]", "B[(#) & 7]", "p[(#) & 3]"]).replace('#', &index)
    }

    fn call(&mut self, scope: Scope) -> String {
        let (function, value) = (self.random.below(scope.function), self.expression(scope, 1));
        format!("f{function}({}, {value})", self.random.of(&["A", "A + 4", "B", "p"]))
    }

    fn target(&mut self, scope: Scope) -> String {
        match self.random.below(5) {
            0 | 1 => self.element(scope, 1),
            2 => "g".to_owned(),
            3 => "x".to_owned(),
            _ => "y".to_owned(),
        }
    }

    fn statement(&mut self, scope: Scope) {
        let inner = Scope { room: scope.room.saturating_sub(1), ..scope };
        match self.random.below(10) {
            0..=2 if scope.room > 0 => {
                let at = scope.depth;
                // Without calls, long enough for iterations to be taken together.
                let is_leaf = self.random.below(2) == 0;
                let times = if is_leaf { 2 + self.random.below(12) } else { 1 + self.random.below(3) };
                self.put(&format!("for (unsigned i{at} = 0; i{at} < {times}; i{at}++) {{"));
                let function = if is_leaf { 0 } else { scope.function };
                let room = if is_leaf { inner.room.min(self.random.below(2)) } else { inner.room };
                self.block(Scope { depth: at + 1, room, function });
                self.put("}");
            }
            3 if scope.room > 0 => {
                let condition = if scope.function > 0 && self.random.below(2) == 0 {
                    self.call(scope)
                } else {
                    self.expression(scope, 1)
                };
                self.put(&format!("if (({condition}) & 1) {{"));
                self.block(inner);
                self.put("}");
            }
            4 | 5 if scope.function > 0 => {
                let (call, value, target) = (self.call(scope), self.expression(scope, 1), self.target(scope));
                let form = self.random.of(&["C;", "T = C;", "T = C + V;", "T = V + C;", "T += C;"]);
                self.put(&form.replace('C', &call).replace('T', &target).replace('V', &value));
            }
            _ => {
                let (target, value) = (self.target(scope), self.expression(scope, 2));
                let sign = self.random.of(&["=", "=", "+=", "^="]);
                self.put(&format!("{target} {sign} {value};"));
            }
        }
    }

    fn block(&mut self, scope: Scope) {
        for _ in 0..1 + self.random.below(3) {
            self.statement(scope);
        }
    }
}
