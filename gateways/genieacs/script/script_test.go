package script_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/genieacs/script"
)

// prefix begins the tags of the organization in these tests.
const prefix = "acme-"

func TestCheck_TakesWhatAProvisionOfAnOrganizationDoes(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"declarations": `
			const now = Date.now(3600000);
			let n = 0;
			declare("Device.DeviceInfo.UpTime", {value: now});
			const found = declare("Device.WiFi.SSID.*.SSID", {path: now, value: now});
			for (const one of found) {
				if (one.value !== undefined && one.value[0] === "old") {
					declare("Device.WiFi.SSID." + n + ".SSID", null, {value: "new"});
				}
				n++;
			}
			log("found " + n);`,
		"indexes":    `for (let i = 1; i < 4; i++) { declare("Device.WiFi.SSID." + i + ".Enable", {value: 1}); }`,
		"templates":  "const i = 2; declare(`InternetGatewayDevice.LANDevice.${i}.Enable`, {value: 1});",
		"tags":       `declare("Tags.acme-a", null, {value: true}); declare("Tags.acme-" + args[0], null, {value: 1});`,
		"small tags": `declare("Tags.acme-0xff", null, {value: true}); declare("Tags.acme-0x", null, {value: true});`,
		"identity":   `const s = declare("DeviceID.SerialNumber", {value: 1}).value[0]; log(s);`,
		"clear":      `clear("Device.Hosts", Date.now()); commit();`,
		"functions":  `const f = (a, b = 2) => +a + +b; function g(x) { return f(x) * Math.max(1, 2); } log(g(1));`,
		"return":     `if (args.length === 0) { return; } log(args[0]);`,
		"arithmetic": `const a = [1, 2]; let s = 0; for (let i = 0; i < a.length; i++) { s += +a[i]; } log(s);`,
		"objects":    `declare("Device.WiFi.SSID.1.SSID", {path: 1, "value": 1}, {value: ["a" + args[0]]});`,
		"lists":      `const [x, , y = 2] = [1, 2, "" + args[0], [3]]; log(x + y + args.length);`,
		"texts":      `let s = ""; for (const a of args) { s += ", "; s = "" + a; } log(s.slice(3) + s.length);`,
		"made": `declare("Device.WiFi.SSID.*", {path: 1e12}, {path: 16});
			declare("Device.X.2", undefined, {path: 0});`,
		"instances": `for (const i of declare("Device.PPP.Interface.*", {path: Date.now()})) { log(i.path); }`,
		"date":      `const d = new Date(Date.now()); if (d.getUTCHours() > 3) { log("late"); }`,
		"switch":    `switch (args[0]) { case "a": { log("a"); break; } default: log("b"); }`,
		"loops":     `let i = 0; outer: while (true) { do { i++; if (i > 3) break outer; } while (i < 10); }`,
		"shadow":    `function f(now) { var later = now; { let now = 2; later += +now; } return later; } log(f(1));`,
		"comment":   "// a comment\n/* and another */ log(1);",
	} {
		if err := script.CheckHere(source, prefix); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// refused is a script that is not taken, and the line of its first fault.
type refused struct {
	source string
	line   int
}

// outside are scripts that want out of their walls.
var outside = map[string]refused{
	"empty":               {" \n", 1},
	"syntax":              {"log(1);\nif (", 2},
	"syntax in the text":  {"log(1);\nlet let = ;\nlog(2);", 2},
	"twice":               {"log(1);\nconst a = 1;\nconst a = 2;", 3},
	"closes the function": {"log(1);\n})();\next('lastmile');\n(function(){", 1},
	"extension":           {"log(1);\n\next('lastmile', 'identify', 'S1');", 3},
	"extension by a name": {"const e = ext;\ne('lastmile');", 1},
	"own name":            {"const ext = declare;", 1},
	"globalThis":          {"globalThis.ext('lastmile');", 1},
	"Function":            {"Function('return 1')();", 1},
	"eval":                {"eval('1');", 1},
	"new":                 {"new Function('return 1');", 1},
	"constructor":         {"log(1);\n(() => 1).constructor('return ext')()('lastmile');", 2},
	"constructor in text": {"args['constructor'];", 1},
	"constructor made":    {"args['con' + 'structor'];", 1},
	"constructor by name": {"const c = 'constructor';\nargs[c];", 2},
	"constructor pattern": {"const {constructor: c} = args;", 1},
	"pattern parameter":   {"const f = ({constructor}) => constructor; f(args);", 1},
	"prototype":           {"Date.prototype.x = 1;", 1},
	"proto":               {"args.__proto__.x = 1;", 1},
	"proto literal":       {"const a = {__proto__: args};", 1},
	"proto text literal":  {`const a = {"__proto__": args};`, 1},
	"computed member":     {"const a = {['a' + 'b']: 1};", 1},
	"getter":              {"const a = {get x() { return 1; }};", 1},
	"Math is changed":     {"Math.random = () => 1;", 1},
	"Math by a name":      {"const m = Math; m.random = 1;", 1},
	"Date is changed":     {"Date.now = () => 1;", 1},
	"Date by brackets":    {"Date['now'] = 1;", 1},
	"declare is replaced": {"declare = log;", 1},
	"declare by a name":   {"const d = declare;\nd('Tags.other', null, {value: true});", 1},
	"declare in a list":   {"[declare][0]('Tags.other');", 1},
	"declare.call":        {"declare.call(null, 'Tags.other');", 1},
	"declare by apply":    {"declare.apply(null, ['Tags.other']);", 1},
	"declare shadowed":    {"{ let declare = 1; }", 1},
	"global":              {"x = 1;", 1},
	"unknown":             {"log(process.env);", 1},
	"out of its block":    {"{ let Reflect = 1; }\nReflect.ownKeys(args);", 2},
	"JSON":                {"JSON.stringify(args);", 1},
	"this":                {"this.ext('x');", 1},
	"arguments":           {"arguments.callee;", 1},
	"class":               {"class A {}", 1},
	"generator":           {"function* f() {}", 1},
	"async":               {"async function f() {}", 1},
	"try":                 {"try { declare('Device.X.Y', {value: 1}); } catch (e) {}", 1},
	"regular expression":  {"/a/.test('a');", 1},
	"tagged template":     {"log`x`;", 1},
	"optional call":       {"args?.constructor;", 1},
	"delete":              {"const a = args;\ndelete a.value;", 2},
	"debugger":            {"debugger;", 1},
}

// beyond are scripts that would hold or end the server where no limit of time holds, or take its memory.
var beyond = map[string]refused{
	"throws an object":      {`throw {name: "x", stack: 1};`, 1},
	"throws a function":     {"log(1);\nthrow {toString: () => { for (;;) {} }};", 2},
	"throws a text":         {`throw args[0];`, 1},
	"object with functions": {`declare("Device.X.Y", null, {value() { for (;;) {} }});`, 1},
	"function as a value":   {`declare("Device.X.Y", null, {value: () => 1});`, 1},
	"other members":         {`declare("Device.X.Y", null, {toString: 1});`, 1},
	"members spread":        {`declare("Device.X.Y", null, {...args});`, 1},
	"object kept":           {`const o = {value: 1};`, 1},
	"object in a list":      {`declare("Device.X.Y", null, {value: [{value: 1}]});`, 1},
	"member is set":         {`const a = [1]; a.join = () => 1;`, 1},
	"answer is changed":     {"const v = declare('DeviceID.SerialNumber', {value: 1}).value;\nv[0] = 'S2';", 2},
	"answer grows":          {`declare("DeviceID.OUI", {value: 1}).value.push(1);`, 1},
	"repeat":                {`"a".repeat(2);`, 1},
	"repeat by brackets":    {`"a"["repeat"](2);`, 1},
	"padding":               {`"a".padEnd(268435456);`, 1},
	"split":                 {`"a,b".split(",");`, 1},
	"join":                  {`["a", "b"].join("");`, 1},
	"replace":               {`args[0].replace("a", args[0]);`, 1},
	"method kept":           {`const f = args.forEach; f();`, 1},
	"text is doubled":       {"let s = 'a';\nwhile (true) { s += s; }", 2},
	"doubled by a sum":      {"let s = 'a';\ns = s + s;", 2},
	"doubled in a function": {`const f = (a) => a + a; f("a");`, 1},
	"doubled by a template": {"let s = 'a';\ns = `${s}${s}`;", 2},
	"text of many bytes":    {`let s = ""; s += "aaaaaaaaaaaaaaaaa";`, 1},
	"number becomes a text": {"let n = 1;\nn = args[0];\nlet m = n + n;", 3},
	"text before a number":  {"for (const n of args) { let m = n + n; }", 1},
	"list is doubled":       {"let a = [1];\na = [a, a];", 2},
	"list is spread":        {"let a = [1];\na = [...a, ...a];", 2},
	"list by dots":          {"const f = (...x) => 1;", 1},
	"pattern with dots":     {"const [...x] = args[0];", 1},
	"call with dots":        {"const f = (a) => 1; f(...args);", 1},
	"number without an end": {"let n = 2n;", 1},
}

// counts are scripts that have the server make more instances of an object than it has memory for.
var counts = map[string]refused{
	"a thousand million":  {`declare("Device.WiFi.SSID.*", null, {path: 1e9});`, 1},
	"one too many":        {"log(1);\ndeclare('Device.WiFi.SSID.*', null, {path: 17});", 2},
	"a sum":               {`declare("Device.WiFi.SSID.*", null, {path: 9 + 9});`, 1},
	"below none":          {`declare("Device.WiFi.SSID.*", null, {path: -1});`, 1},
	"a half":              {`declare("Device.WiFi.SSID.*", null, {path: 1.5});`, 1},
	"a text":              {`declare("Device.WiFi.SSID.*", null, {path: "16"});`, 1},
	"from and to":         {`declare("Device.WiFi.SSID.*", null, {path: [1e9, 1e9]});`, 1},
	"a variable":          {"const n = 1e9;\ndeclare('Device.WiFi.SSID.*', null, {path: n});", 2},
	"a short member":      {"const path = 1e9;\ndeclare('Device.WiFi.SSID.*', null, {path});", 2},
	"with a default":      {`let path; declare("Device.WiFi.SSID.*", null, {path = 1e9});`, 1},
	"the second of two":   {`declare("Device.WiFi.SSID.*", null, {path: 1, path: 1e9});`, 1},
	"not in braces":       {`declare("Device.WiFi.SSID.*", null, declare("Device.X.Y", {path: 1}));`, 1},
	"known not in braces": {"log(1);\ndeclare('Device.X.Y', args[0]);", 2},
	"clear not in braces": {`clear("Device.Hosts", 1, args);`, 1},
}

// secret are scripts that ask for passwords and keys, which the server has of every customer before.
var secret = map[string]refused{
	"password":            {`const p = declare("Device.PPP.Interface.1.Password", {value: 1}).value;`, 1},
	"key":                 {"log(1);\ndeclare(`Device.WiFi.AccessPoint.${+args[0]}.KeyPassphrase`, {value: 1});", 2},
	"password is set":     {`declare("Device.PPP.Interface.1.Password", null, {value: "x"});`, 1},
	"by a short member":   {`let value = 1; declare("Device.PPP.Interface.1.Password", {value});`, 1},
	"by a variable":       {`declare("Device.PPP.Interface.1.Password", args[0]);`, 1},
	"in pieces":           {`declare("Device.PPP.Interface.1.Pass" + "word", {value: 1});`, 1},
	"small letters":       {`declare("Device.PPP.Interface.1.password", {value: 1});`, 1},
	"numbered":            {`declare("Device.WiFi.AccessPoint.1.X_WEPKey" + 1, {value: 1});`, 1},
	"virtual":             {`declare("VirtualParameters.WifiPassword", {value: 1});`, 1},
	"all of an object":    {`declare("Device.PPP.Interface.1.*", {value: 1});`, 1},
	"all below":           {`declare("Device.PPP.*.*.*", {value: 1});`, 1},
	"a name that is made": {`declare("Device.PPP.Interface.1." + args[0], {value: 1});`, 1},
	"a part that is made": {`declare("Device.PPP.Interface." + args[0] + ".Username", {value: 1});`, 1},
	"a guess":             {`declare("Device.PPP.Interface.[Password:x].Username", {value: 1});`, 1},
}

// paths are scripts that touch what is not theirs.
var paths = map[string]refused{
	"foreign tag":         {"declare('Tags.org0x3Aother', null, {value: true});", 1},
	"tag of a neighbour":  {"declare('Tags.acme', null, {value: true});", 1},
	"all tags":            {"declare('Tags.*', {value: 1});", 1},
	"tag of a sign":       {"log(1);\ndeclare('Tags.acme-0xFF', null, {value: true});", 2},
	"tag of another":      {"declare('Tags.acme-0' + 'x41-' + args[0], null, {value: true});", 1},
	"tag of a sign reads": {"declare(`Tags.acme-a0x41`, {value: 1});", 1},
	"tag made":            {"const t = 'x'; declare('Tags.' + t, null, {value: true});", 1},
	"path made":           {"const p = 'Tags.x'; declare(p);", 1},
	"path by a template":  {"const p = 'Tags'; declare(`${p}.x`);", 1},
	"path by a choice":    {"declare(args[0] ? 'Device.X.Y' : 'Tags.x');", 1},
	"path spread":         {"declare(...['Tags.x']);", 1},
	"no path":             {"declare();", 1},
	"management":          {"declare('Device.ManagementServer.URL', null, {value: 'http://x'});", 1},
	"management 098":      {"declare('InternetGatewayDevice.ManagementServer.URL', {value: 1});", 1},
	"management pieces":   {"declare('Device.' + 'Management' + 'Server.URL', null, {value: 'x'});", 1},
	"management later":    {"const m = 'ManagementServer'; declare('Device.' + m + '.URL');", 1},
	"management half":     {"const m = 'Server'; declare('Device.Management' + m + '.URL');", 1},
	"management wildcard": {"declare('Device.*.URL', null, {value: 'x'});", 1},
	"management alias":    {"declare('Device.[a:b].URL');", 1},
	"management by CWMP":  {"declare('Device.CWMPManagementServer.URL', null, {value: 'x'});", 1},
	"management escaped":  {`declare('Device.\u004danagementServer.URL');`, 1},
	"extension escaped":   {`\u0065xt('lastmile');`, 1},
	"whole tree":          {"declare('Device', {value: 1});", 1},
	"clears the tree":     {"clear('Device', Date.now());", 1},
	"clears tags":         {"clear('Tags', 1);", 1},
	"reboot":              {"declare('Reboot', null, {value: Date.now()});", 1},
	"reset":               {"declare('FactoryReset', null, {value: Date.now()});", 1},
	"download":            {"declare('Downloads.[FileType:1 Firmware Upgrade Image]', {path: 1}, {path: 1});", 1},
	"comment of HTML":     {"let a = 1;\na <!-- /*\next('lastmile');\n/* */ a", 2},
	"end of such comment": {"let a = 1;\na\n--> 1", 3},
	"line separator":      {"let a = 1; // \u2028ext('lastmile');", 1},
	"zero":                {"log(1);\x00", 1},
	"no text":             {"log('\xff');", 1},
	"too long":            {"log('" + strings.Repeat("x", script.MaxSize) + "');", 1},
	"source map":          {"log(1); ext(2);\n//# sourceMappingURL=file:///etc/passwd", 1},
}

func TestCheck_RefusesWithTheLine(t *testing.T) {
	t.Parallel()
	all := maps.Clone(outside)
	for _, more := range []map[string]refused{paths, beyond, secret, counts} {
		maps.Copy(all, more)
	}
	for name, c := range all {
		err := script.CheckHere(c.source, prefix)
		var fault *script.Fault
		if !errors.As(err, &fault) {
			t.Errorf("%s was taken: %v", name, err)
			continue
		}
		if fault.Line != c.line || fault.Text == "" {
			t.Errorf("%s: %v, want line %d", name, fault, c.line)
		}
	}
}

func TestCheck_WithoutAPrefixThereAreNoTags(t *testing.T) {
	t.Parallel()
	if err := script.CheckHere("declare('Tags.acme-x', null, {value: true});", ""); err == nil {
		t.Error("a tag was taken")
	}
}

// FuzzCheck looks for scripts that make the check panic, and for forbidden names that get through.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		"log(1);", "const {a} = args;", "ext('x')", "declare(`Device.A.${args[0]}`)",
		"for (const [a = ext] of args) log(a);", "switch (1) { case ext: }",
		"const f = (a = ext('x')) => a; f();", "label: for (;;) break label;",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if script.CheckHere(source, prefix) == nil && strings.Contains(source, "ext(") &&
			!strings.ContainsAny(source, "\"'`/.") && !strings.Contains(source, "_ext(") {
			for _, part := range strings.Split(source, "ext(")[:1] {
				if part == "" || strings.HasSuffix(part, " ") || strings.HasSuffix(part, ";") {
					t.Errorf("%q was taken", source)
				}
			}
		}
	})
}

// TestCounted_LoopsAndFunctionsCountTheirSteps in their own lines, whatever their form.
func TestCounted_LoopsAndFunctionsCountTheirSteps(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`log(1);`:         `log(1);`,
		`while (true) {}`: `while (true) {__step(2);}`,
		"for (;;)\n;":     "for (;;)\nif(!__step(1));else ;",
		`if (args) for (;;) log(1); else log(2);`: `if (args) for (;;) if(!__step(3));else log(1); else log(2);`,
		`do { log(1); } while (true);`:            `do {__step(5); log(1); } while (true);`,
		`const f = (a) => +a;`:                    `const f = (a) => !__step(3)?0:+a;`,
		`const f = (a) => (b) => +a;`:             `const f = (a) => !__step(5)?0:(b) => !__step(3)?0:+a;`,
		`const f = (a) => (a > 1) ? 2 : 3;`:       `const f = (a) => (!__step(7)?0:a > 1) ? 2 : 3;`,
		`function f() { return 1; }`:              `function f() {__step(2); return 1; }`,
		`for (;;) if (args) log(1); else log(2);`: `for (;;) if (!__step(8)?0:args) log(1); else log(2);`,
		`for (const a of args) a.trim();`:         `for (const a of args) if(!__step(54));else a.trim();`,
	} {
		if got, err := script.CountedHere(source, prefix); err != nil || got != want {
			t.Errorf("%s: %s, %v", source, got, err)
		}
	}
	var fault *script.Fault
	for source, line := range map[string]int{
		"log(1);\nwhile (true) (args[0]);": 2, "let __step = 1;": 1, "log(1);\n__step(-1);": 2,
		strings.Repeat("x=>", 16000) + "1;": 1, "log(1);\n" + strings.Repeat("1+", 30000) + "1;": 2,
		strings.Repeat("{", 30000) + strings.Repeat("}", 30000): 1,
	} {
		if _, err := script.CountedHere(source, prefix); !errors.As(err, &fault) || fault.Line != line {
			t.Errorf("%.40s: %v", source, err)
		}
	}
}
