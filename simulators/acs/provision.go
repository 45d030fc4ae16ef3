package acs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

// maxRounds bounds how often a script is run in one session. Source: docs/facts/genieacs.md#provisions.
const maxRounds = 32

// round is one run of a script. A run that looks at what it has declared is broken off, the server does what was
// declared, and the script begins anew: it sees the device as it was after each of these commits.
type round struct {
	x  *session
	vm *goja.Runtime

	states      []*document // the device at the beginning and after each commit
	revision    int         // of the state that the run sees
	uncommitted bool        // something was declared since
	wishes      []wish
	asks        []string // arguments of the extension

	reads   map[string]int64 // pattern: instant, in ms, at which the cache is good enough
	looks   map[string]bool  // patterns whose parameters are looked for
	writes  map[string]any
	tags    []flip
	clears  map[string]int64
	makes   map[string]int64 // instances that are missing, by their objects
	drops   []string         // instances that are too many
	reboots bool
	resets  bool
}

// wish is a declaration of a script about a path.
type wish struct {
	path       string
	at, values map[string]any
}

// flip is a tag that a script sets or takes.
type flip struct {
	tag string
	on  bool
}

// errStop breaks a run off, to do what it has asked for.
var errStop = errors.New("commit")

// provision runs a script until nothing is left to do; the fault of its channel otherwise.
func (x *session) provision(name string, args []any) *fault {
	script, ok := x.sim.script(name)
	if !ok {
		return x.builtin(name, args)
	}
	program, err := x.sim.compiled(script)
	if err != nil {
		return scriptFault("SyntaxError", err.Error())
	}
	states := []*document{x.doc.clone()}
	for range maxRounds {
		r := &round{x: x, states: states, clears: map[string]int64{}}
		done, f := r.run(program, args)
		switch {
		case f != nil:
			return f
		case r.asks != nil:
			if f := r.answer(); f != nil {
				return f
			}
			continue
		}
		if f := r.apply(); f != nil || done {
			return f
		}
		states = append(states, x.doc.clone())
	}
	return &fault{code: "too_many_commits", message: "Too many commit iterations"}
}

// answer asks the extension.
func (r *round) answer() *fault {
	answer := r.x.sim.ask(r.x, r.asks)
	if answer.fault == nil {
		r.x.answers[r.question(r.asks)] = answer
	}
	return answer.fault
}

// apply does what a run has declared, until nothing is left to do.
func (r *round) apply() *fault {
	for range maxRounds {
		r.reads, r.looks, r.writes = map[string]int64{}, map[string]bool{}, map[string]any{}
		r.makes = map[string]int64{}
		r.tags, r.drops, r.reboots, r.resets = nil, nil, false, false
		for _, w := range r.wishes {
			r.want(w)
		}
		more, f := r.commit()
		if f != nil || !more {
			return f
		}
		r.clears = nil
	}
	return &fault{code: "too_many_commits", message: "Too many commit iterations"}
}

// script finds a provision.
func (s *Simulator) script(name string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.state.provisions[name]
	return text, ok
}

// compile wraps a script as the server does.
func compile(script string) (*goja.Program, error) {
	program, err := goja.Parse("", "\"use strict\";(function(){\n"+script+"\n})();", parser.WithDisableSourceMaps)
	if err != nil {
		return nil, err
	}
	return goja.CompileAST(program, true)
}

// compiled is compile for a script that runs often.
func (s *Simulator) compiled(script string) (*goja.Program, error) {
	if known, ok := s.programs.Load(script); ok {
		return known.(*goja.Program), nil
	}
	program, err := compile(script)
	if err == nil {
		s.programs.Store(script, program)
	}
	return program, err
}

// scriptFault is an error of a script.
func scriptFault(name, message string) *fault {
	return &fault{
		code: "script." + name, message: message,
		detail: map[string]any{"name": name, "message": message, "stack": name + ": " + message},
	}
}

// run runs a script once. It reports whether the script came to its end.
func (r *round) run(program *goja.Program, args []any) (bool, *fault) {
	r.x.sim.engines <- struct{}{}
	defer func() { <-r.x.sim.engines }()
	r.vm = goja.New()
	r.offer(args)
	limit := time.AfterFunc(r.x.sim.cfg.RunLimit, func() { r.vm.Interrupt("Script execution timed out") })
	defer limit.Stop()
	_, err := r.vm.RunProgram(program)
	var broken *goja.InterruptedError
	var thrown *goja.Exception
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &broken):
		if broken.Value() == errStop {
			return false, nil
		}
		return false, scriptFault("Error", fmt.Sprint(broken.Value()))
	case errors.As(err, &thrown):
		return false, r.thrown(thrown.Value())
	}
	return false, scriptFault("Error", err.Error())
}

// thrown makes a fault of what a script has thrown. Name and message are whatever the script has put there, and are
// made texts where no limit of time holds: a script that spins there ends the session, and the server's process there.
func (r *round) thrown(value goja.Value) *fault {
	var out *fault
	err := r.vm.Try(func() {
		name := goja.Undefined()
		o, is := value.(*goja.Object)
		if is {
			name = o.Get("name")
		}
		if name == nil || !name.ToBoolean() {
			out = &fault{code: "script", message: value.String()}
			return
		}
		message, stack := o.Get("message"), o.Get("stack")
		out = scriptFault(name.String(), "")
		out.message = exported(message)
		out.detail["message"], out.detail["stack"] = out.message, exported(stack)
		if text, is := out.detail["stack"].(string); stack != nil && stack.ToBoolean() && (!is || text == "") {
			panic(r.vm.NewTypeError("stack.match is not a function"))
		}
	})
	if err != nil {
		r.x.sim.line("process ended: " + err.Error())
		return scriptFault("Error", "the process ended")
	}
	return out
}

// exported is a value of a script as the database keeps it; nil when there is none.
func exported(value goja.Value) any {
	if value == nil {
		return nil
	}
	return value.Export()
}

// offer gives a script what it may use.
func (r *round) offer(args []any) {
	vm, now := r.vm, r.x.now
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(r.x.d.id))
	random := rand.New(rand.NewPCG(hash.Sum64(), r.x.sim.cfg.Seed))
	vm.SetRandSource(random.Float64)
	vm.SetTimeSource(func() time.Time { return now })
	if args == nil {
		args = []any{}
	}
	set := func(name string, value any) { _ = vm.Set(name, value) }
	set("args", args)
	set("log", func(call goja.FunctionCall) goja.Value {
		r.x.sim.line(r.x.d.id + ": " + call.Argument(0).String())
		return goja.Undefined()
	})
	set("declare", r.declare)
	set("clear", r.clear)
	set("ext", r.ext)
	set("commit", func(goja.FunctionCall) goja.Value {
		r.committed()
		return goja.Undefined()
	})
	_ = vm.Get("Date").ToObject(vm).Set("now", func(call goja.FunctionCall) goja.Value {
		ms := now.UnixMilli()
		if every := call.Argument(0).ToInteger(); every > 0 {
			offset := int64(hash.Sum64() % uint64(every))
			ms = (ms-offset)/every*every + offset
		}
		return vm.ToValue(ms)
	})
}

// line keeps what a script logs, and what tests read; the newest thousand.
func (s *Simulator) line(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.lines = append(s.state.lines, text)
	if n := len(s.state.lines); n > 1000 {
		s.state.lines = slices.Delete(s.state.lines, 0, n-1000)
	}
}

// wants reports whether a run has asked for anything of the device that is not there.
func (r *round) wants() bool {
	parameters := len(r.reads)+len(r.looks)+len(r.writes)+len(r.clears) > 0
	return parameters || len(r.makes)+len(r.drops) > 0 || r.reboots || r.resets
}

// fail throws an error in the script.
func (r *round) fail(text string) goja.Value { panic(r.vm.NewTypeError(text)) }

// commit does what a run has asked for: it reads, then sets the tags, then writes. It reports whether there was
// anything to do at the device.
func (r *round) commit() (bool, *fault) {
	x := r.x
	for path, before := range r.clears {
		for p, l := range x.doc.leaves {
			if (p == path || strings.HasPrefix(p, path+".")) && l.at.UnixMilli() < before {
				delete(x.doc.leaves, p)
			}
		}
		x.seen[fmt.Sprintf("clear %s %d", path, before)] = true
	}
	if f := r.fetch(); f != nil {
		return true, f
	}
	for _, t := range r.tags {
		x.tag(t)
	}
	if f := r.makeInstances(); f != nil {
		return true, f
	}
	if f := x.set(r.writes); f != nil {
		return true, f
	}
	if r.reboots {
		x.planReboot("Reboot")
	}
	if r.resets {
		x.planReset()
	}
	return r.wants(), nil
}

// fetch looks for parameters, and reads values.
func (r *round) fetch() *fault {
	x := r.x
	if len(r.reads)+len(r.looks) == 0 {
		return nil
	}
	if code := x.faults().Fail["GetParameterValues"]; code != "" && len(r.reads) > 0 { // a look asks for names alone
		return x.refused(code, nil)
	}
	x.d.boxMu.Lock()
	defer x.d.boxMu.Unlock()
	for pattern := range r.looks {
		x.seen[pattern] = true
		for _, p := range x.d.box.matching(pattern) {
			x.note(p)
		}
	}
	for path := range r.reads {
		x.remember(path)
	}
	return nil
}

// ask is the extension of ours in scripts: it posts what it was called with and gives the answer, or null when there is
// none.
func (s *Simulator) ask(x *session, args []string) answerOf {
	s.mu.Lock()
	to := s.state.identify
	s.state.calls++
	s.mu.Unlock()
	if to.URL == "" || len(args) < 2 || args[0] != "lastmile" || args[1] != "identify" {
		message := "Cannot find module '" + strings.Join(args[:min(len(args), 1)], "") + "'"
		return answerOf{fault: &fault{code: "ext.Error", message: message, detail: map[string]any{
			"name": "Error", "message": message,
		}}}
	}
	return answerOf{value: s.posted(x.ctx, to.URL, to.Key, identityIn(args[2:]))}
}

// identityIn names the arguments of the extension as the platform does.
func identityIn[T any](args []T) map[string]any {
	fields := map[string]any{}
	for i, name := range []string{"serialNumber", "oui", "productClass", "address"} {
		if len(args) > i {
			fields[name] = cmp.Or[any](args[i], "")
		}
	}
	return fields
}

// extension is ours in the expression of cwmp.auth: the password of a device, or whether it is let in; null when there
// is no answer.
func (s *Simulator) extension(ctx context.Context, args []any) any {
	s.mu.Lock()
	to := s.state.identify
	s.mu.Unlock()
	if to.URL == "" || len(args) < 5 || args[0] != "lastmile" || args[1] != "signIn" {
		return nil
	}
	fields, wanted := identityIn(args[2:5]), "password"
	if len(args) > 5 {
		fields["shown"], wanted = args[5] == true, "admitted"
	}
	answer, _ := s.posted(ctx, to.URL[:strings.LastIndex(to.URL, "/")+1]+"sign-in", to.Key, fields).(map[string]any)
	return answer[wanted]
}

// posted asks the platform, and gives what it answers; nil when it does not.
func (s *Simulator) posted(ctx context.Context, url, key string, fields map[string]any) any {
	body, _ := json.Marshal(fields)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Internal-Key", key)
	w, err := s.client.Do(req)
	if err != nil {
		return nil
	}
	defer w.Body.Close()
	var out any
	if w.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(w.Body, 1<<20)).Decode(&out) != nil {
		return nil
	}
	return out
}
