package acs

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// The events of informs, and the server's own.
const (
	bootstrap   = "0 BOOTSTRAP"
	boot        = "1 BOOT"
	periodic    = "2 PERIODIC"
	connection  = "6 CONNECTION REQUEST"
	transferred = "7 TRANSFER COMPLETE"
	tested      = "8 DIAGNOSTICS COMPLETE"
	registered  = "Registered"
)

// session is one talk of a device with the server. It works on a copy of the document, which replaces the server's at
// its end.
type session struct {
	sim      *Simulator
	ctx      context.Context
	d        *device
	doc      *document
	now      time.Time
	events   map[string]bool
	existing bool                // the server knew the device before
	had      []string            // tags at its beginning; these and those of doc have the form of scripts
	answers  map[string]answerOf // of the extension, since the presets, or a task, began to run
	seen     map[string]bool     // patterns whose parameters were looked for
	missing  map[string]bool     // parameters that the device does not have
	given    map[string]any      // values that were set in this session
	calls    int                 // of the device, to make instances
	changed  bool                // by the presets that run: a tag, or a value of the device
	retries  map[string]int      // of channels whose faults have ended in the session
	after    []func(ctx context.Context)
}

// answerOf keeps the word of the extension, or its fault.
type answerOf struct {
	value any
	fault *fault
}

// inform lets a device begin a session with events, and waits for its end. It reports whether there was one: a device
// in session begins no other.
func (s *Simulator) inform(ctx context.Context, d *device, events ...string) bool {
	x := s.open(ctx, d, events)
	if x == nil {
		return false
	}
	x.carry()
	x.presets()
	x.queue()
	s.end(x)
	return true
}

// comes reports whether a device can begin a session now.
func (s *Simulator) comes(d *device) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !d.busy && d.on && !d.gone && !s.stopped
}

// open takes the lock of a device's sessions; nil when it is taken, the device is off, or it is not let in.
func (s *Simulator) open(ctx context.Context, d *device, events []string) *session {
	if !s.comes(d) || !s.admitted(ctx, d, events) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.busy || !d.on || d.gone || s.stopped { // by now
		return nil
	}
	x := &session{
		sim: s, ctx: ctx, d: d, now: s.clock.Now().Truncate(time.Millisecond), events: map[string]bool{"Inform": true},
		answers: map[string]answerOf{}, seen: map[string]bool{}, missing: map[string]bool{}, given: map[string]any{},
		retries: map[string]int{}, existing: d.doc != nil,
	}
	if d.first {
		events = append([]string{bootstrap, boot}, slices.DeleteFunc(slices.Clone(events), func(e string) bool {
			return e == boot || e == periodic
		})...)
		d.first = false
	}
	for _, e := range events {
		x.events[e] = true
	}
	if d.doc != nil {
		x.doc = d.doc.clone()
		x.doc.tags = scriptTags(d.doc.tags)
		x.had = slices.Clone(x.doc.tags)
	} else {
		x.events[registered] = true
		x.doc = &document{
			id: d.id, registered: x.now, leaves: map[string]leaf{}, manufacturer: d.cfg.Manufacturer, oui: d.cfg.OUI,
			class: d.cfg.ProductClass, serial: d.cfg.Serial,
		}
	}
	d.busy, d.freed = true, make(chan struct{})
	return x
}

// carry takes the parameters of the inform.
func (x *session) carry() {
	d, mute := x.d, x.faults().NoAddress
	d.boxMu.Lock()
	defer d.boxMu.Unlock()
	for _, p := range d.box.carried() {
		if mute && strings.HasSuffix(p, "ConnectionRequestURL") {
			continue
		}
		x.remember(p)
	}
	if x.events[boot] {
		x.doc.boot = x.now
	}
	if x.events[bootstrap] {
		x.doc.reset = x.now
	}
}

// faults are those of the device.
func (x *session) faults() DeviceFaults {
	x.sim.mu.Lock()
	defer x.sim.mu.Unlock()
	return x.d.faults
}

// remember reads a parameter into the document; the box is locked. It reports whether the device has it.
func (x *session) remember(path string) bool {
	value, ok := x.d.box.read(path, x.now)
	if !ok {
		delete(x.doc.leaves, path)
		x.missing[path] = true
		return false
	}
	p := x.d.box.params[path]
	x.doc.leaves[path] = leaf{value: value, kind: p.kind, at: x.now, writable: p.writable, read: true}
	return true
}

// note knows a parameter without its value; the box is locked.
func (x *session) note(path string) {
	if l, known := x.doc.leaves[path]; known {
		l.writable = x.d.box.params[path].writable
		x.doc.leaves[path] = l
		return
	}
	p := x.d.box.params[path]
	x.doc.leaves[path] = leaf{kind: p.kind, writable: p.writable, at: x.now}
}

// set writes values to the device in one step, and to the document. Values that the document has already are not sent.
// Source: docs/facts/genieacs.md#success-proves-nothing.
func (x *session) set(values map[string]any) *fault {
	f := x.faults()
	x.d.boxMu.Lock()
	defer x.d.boxMu.Unlock()
	send := map[string]any{}
	for path, value := range values {
		p, ok := x.d.box.params[path]
		if !ok || !p.writable {
			continue
		}
		plain, ok := coerce(value, p.kind)
		known := x.doc.leaves[path]
		if !ok || known.read && known.value == plain {
			continue
		}
		send[path] = plain
	}
	if len(send) == 0 {
		return nil
	}
	if code := f.Fail["SetParameterValues"]; code != "" {
		return x.refused(code, nil)
	}
	var details []any
	code := ""
	for _, path := range slices.Sorted(maps.Keys(send)) {
		if c := f.Reject[path]; c != "" {
			code = "9003"
			details = append(details, map[string]any{
				"parameterName": path, "faultCode": c, "faultString": cpeFaults[c],
			})
		}
	}
	if code != "" {
		return x.refused(code, details)
	}
	x.changed = true
	for path, value := range send {
		if !f.Swallow {
			x.d.box.write(path, value)
		}
		p := x.d.box.params[path]
		x.doc.leaves[path] = leaf{value: value, kind: p.kind, at: x.now, writable: true, read: true}
		x.given[path] = value
	}
	return nil
}

// cpeFaults are the texts of devices' codes. Source: docs/facts/genieacs.md#faults.
var cpeFaults = map[string]string{
	"9000": "Method not supported", "9001": "Request denied", "9002": "Internal error", "9003": "Invalid arguments",
	"9004": "Resources exceeded", "9005": "Invalid parameter name", "9006": "Invalid parameter type",
	"9007": "Invalid parameter value", "9008": "Attempt to set a non-writable parameter",
	"9010": "Download failure", "9015": "Unable to contact file server", "9016": "Unable to access file",
	"9018": "File corrupted",
}

// refused is the fault of a device's no.
func (x *session) refused(code string, parameters []any) *fault {
	detail := map[string]any{"faultCode": code, "faultString": cpeFaults[code]}
	if parameters != nil {
		detail["setParameterValuesFault"] = parameters
	}
	return &fault{code: "cwmp." + code, message: cpeFaults[code], detail: detail}
}

// maxCycles bounds how often the presets run in one session. Source: docs/facts/genieacs.md#queue.
const maxCycles = 4

// presets runs the provisions whose presets fit this session, and again until they change nothing more.
func (x *session) presets() {
	failed := map[string]bool{}
	for n := 1; ; n++ {
		x.changed = false
		list := x.sim.presetsFor(x)
		if n == 1 {
			list = x.sim.withFailed(x.d.id, list)
		}
		list = slices.DeleteFunc(list, func(p chosen) bool {
			return failed[p.channel] || x.sim.held(x.d.id, p.channel, x.now)
		})
		if n > maxCycles {
			x.givesUp(list)
			return
		}
		x.cycle(list, failed)
		if !x.changed {
			return
		}
	}
}

// givesUp notes that presets never came to rest: for all their channels, whoever of them it was.
func (x *session) givesUp(list []chosen) {
	for _, channel := range channels(list) {
		at := slices.IndexFunc(list, func(p chosen) bool { return p.channel == channel })
		x.settle(channel, &fault{
			code: "preset_loop", message: "The presets are stuck in an endless configuration loop", preset: &list[at],
		})
	}
}

// channels are those of some provisions, each once.
func channels(list []chosen) []string {
	var out []string
	for _, p := range list {
		if !slices.Contains(out, p.channel) {
			out = append(out, p.channel)
		}
	}
	return out
}

// cycle runs provisions once. A channel that fails is held back alone: the server runs all together, and of a fault it
// does not know whose it is, so that it tries each of the channels by itself at once.
func (x *session) cycle(list []chosen, failed map[string]bool) {
	clear(x.answers)
	several := len(channels(list)) > 1
	for _, p := range list {
		if failed[p.channel] {
			continue
		}
		f := x.provision(p.name, p.args)
		if failed[p.channel] = f != nil; f != nil {
			f.preset = &p
			clear(x.answers)
			if several {
				f.retries = 1 // it was tried with the others, and by itself
			}
		}
		x.settle(p.channel, f)
	}
}

// withFailed puts those provisions before the ones of a session that have failed in an earlier one. Source:
// docs/facts/genieacs.md#queue.
func (s *Simulator) withFailed(device string, list []chosen) []chosen {
	s.mu.Lock()
	defer s.mu.Unlock()
	var before []chosen
	for _, f := range s.state.faults {
		if f.device == device && f.preset != nil && !slices.ContainsFunc(list, f.preset.alike) {
			before = append(before, *f.preset)
		}
	}
	slices.SortFunc(before, func(a, b chosen) int { return cmp.Compare(a.channel, b.channel) })
	return append(before, list...)
}

// settle writes or clears the fault of a channel.
func (x *session) settle(channel string, f *fault) {
	s := x.sim
	s.mu.Lock()
	defer s.mu.Unlock()
	key := x.d.id + ":" + channel
	before := s.state.faults[key]
	if f == nil {
		if before != nil {
			x.retries[channel] = before.retries + 1
		}
		delete(s.state.faults, key)
		return
	}
	f.device, f.channel, f.at = x.d.id, channel, x.now
	f.provisions = cmp.Or(f.provisions, "[]")
	if before != nil {
		f.retries = before.retries + 1
	} else if n, ended := x.retries[channel]; ended {
		f.retries = n
	}
	s.state.faults[key] = f
}

// held reports whether a fault keeps a channel from running.
func (s *Simulator) held(id, channel string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.faults[id+":"+channel].holds(now)
}

// chosen is a provision that a preset runs.
type chosen struct {
	channel, name string
	args          []any
	weight        float64
	preset        string
}

// alike reports whether two presets run the same provision in one channel.
func (c chosen) alike(other chosen) bool { return c.channel == other.channel && c.name == other.name }

// presetsFor gives the provisions of a session in their order.
func (s *Simulator) presetsFor(x *session) []chosen {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []chosen{}
	for name, p := range s.state.presets {
		if !fitsEvents(p["events"], x.events) || !x.holds(p["precondition"]) {
			continue
		}
		channel, _ := p["channel"].(string)
		weight, _ := p["weight"].(float64)
		list, _ := p["configurations"].([]any)
		for _, one := range list {
			c, _ := one.(map[string]any)
			if c["type"] != "provision" {
				continue
			}
			provision, _ := c["name"].(string)
			args, _ := c["args"].([]any)
			out = append(out, chosen{cmp.Or(channel, "default"), provision, args, weight, name})
		}
	}
	slices.SortStableFunc(out, func(a, b chosen) int {
		return cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(a.preset, b.preset))
	})
	return out
}

// fitsEvents reports whether a session has the events that a preset wants, and none that it does not.
func fitsEvents(wanted any, have map[string]bool) bool {
	events, _ := wanted.(map[string]any)
	for e, must := range events {
		if must != have[e] {
			return false
		}
	}
	return true
}

// holds decides about a precondition.
func (x *session) holds(precondition any) bool {
	text, _ := precondition.(string)
	if text = strings.TrimSpace(text); text == "" {
		return true
	}
	var legacy map[string]any
	if json.Unmarshal([]byte(text), &legacy) == nil {
		plain := *x.doc
		plain.tags = nil
		for _, form := range x.doc.tags {
			tag, _ := plainTag(form)
			plain.tags = append(plain.tags, tag)
		}
		ok, err := matchesQuery(&plain, legacy)
		return ok && err == nil
	}
	for _, term := range strings.Split(text, " AND ") {
		if !x.term(strings.TrimSpace(term)) {
			return false
		}
	}
	return true
}

// term decides about one part of a precondition; one that is not known is false.
func (x *session) term(text string) bool {
	if left, right, ok := strings.Cut(text, " = "); ok {
		value, known := x.doc.pseudo(strings.TrimSpace(left))
		return known && value == strings.Trim(strings.TrimSpace(right), `"'`)
	}
	left, not, ok := strings.Cut(text, " IS NOT NULL")
	if !ok {
		left, _, ok = strings.Cut(text, " IS NULL")
		not = "NULL"
	}
	tag, is := strings.CutPrefix(left, "Tags.")
	if !ok || !is {
		return false
	}
	return slices.Contains(x.doc.tags, tag) == (not == "")
}

// pseudo gives a DeviceID parameter; nil is one that the device does not send.
func (d *document) pseudo(path string) (any, bool) {
	name, ok := strings.CutPrefix(path, "DeviceID.")
	if !ok {
		return nil, false
	}
	value, ok := map[string]any{
		"ID": d.id, "SerialNumber": d.serial, "OUI": d.oui, "ProductClass": orNull(d.class),
		"Manufacturer": d.manufacturer,
	}[name]
	return value, ok
}

// orNull gives nil for a product class that is missing.
func orNull(class string) any {
	if class == "" {
		return nil
	}
	return class
}

// end writes the document back, frees the device, plans its next inform, and starts what follows. Of a session at whose
// tags the server's process ends nothing is kept: the device has to say again that it is new.
func (s *Simulator) end(x *session) {
	every := x.interval()
	x.planTests()
	s.mu.Lock()
	tags, ok := x.stored()
	if ok {
		x.doc.inform, x.doc.tags = x.now, tags
		x.d.doc = x.doc
	}
	x.d.first = x.d.first || !ok && x.events[bootstrap]
	x.d.next = time.Time{}
	if every > 0 {
		x.d.next = x.now.Add(every)
	}
	x.d.busy = false
	close(x.d.freed)
	s.mu.Unlock()
	if !ok {
		s.line("process ended: URIError: URI malformed")
	}
	for _, do := range x.after {
		s.later(do)
	}
}

// interval is the time between a device's informs; 0 = it sends none.
func (x *session) interval() time.Duration {
	x.d.boxMu.Lock()
	defer x.d.boxMu.Unlock()
	prefix := x.d.cfg.Root + ".ManagementServer.PeriodicInform"
	on, _ := x.d.box.params[prefix+"Enable"].value.(bool)
	seconds, _ := x.d.box.params[prefix+"Interval"].value.(float64)
	if !on || seconds < 1 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
