package acs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// queue runs the tasks of the device, oldest first. One that failed is passed over until its time comes again.
func (x *session) queue() {
	x.again()
	for _, t := range x.sim.tasksOf(x.d.id) {
		channel := "task_" + string(t.id)
		if !t.expiry.IsZero() && !x.now.Before(t.expiry) {
			x.sim.endTask(x.d.id, t.id)
			continue
		}
		if x.sim.held(x.d.id, channel, x.now) {
			continue
		}
		f := x.task(t)
		if f != nil {
			f.provisions = provisionsOf(t)
		}
		x.settle(channel, f)
		if f == nil {
			x.sim.endTask(x.d.id, t.id)
		}
	}
}

// again begins those downloads anew that have failed after their tasks were gone. Only who clears such a fault ends
// that. Source: docs/facts/genieacs.md#queue.
func (x *session) again() {
	for _, t := range x.sim.goneOf(x.d.id) {
		channel := "task_" + string(t.id)
		if x.sim.held(x.d.id, channel, x.now) {
			continue
		}
		f := x.task(t)
		if f != nil {
			f.provisions, f.gone = provisionsOf(t), t
		}
		x.settle(channel, f)
	}
}

// goneOf gives the tasks of a device that are gone and have left a fault, in the order of their instants.
func (s *Simulator) goneOf(id string) []*task {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []*task{}
	for _, f := range s.state.faults {
		if f.device == id && f.gone != nil {
			out = append(out, f.gone)
		}
	}
	slices.SortFunc(out, func(a, b *task) int { return cmp.Compare(a.id, b.id) })
	return out
}

// provisionsOf names, in a fault of a task, its work with its values, as the server does.
func provisionsOf(t *task) string {
	text, _ := json.Marshal([]any{[]any{t.body["name"], t.body["parameterValues"]}})
	return string(text)
}

// tasksOf gives the tasks of a device in the order of their instants.
func (s *Simulator) tasksOf(id string) []*task {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []*task{}
	for _, t := range s.state.tasks {
		if t.device == id {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b *task) int { return a.at.Compare(b.at) })
	return out
}

// endTask takes a task away.
func (s *Simulator) endTask(device string, id oid) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.tasks = slices.DeleteFunc(s.state.tasks, func(t *task) bool { return t.device == device && t.id == id })
}

// task carries one task out.
func (x *session) task(t *task) *fault {
	clear(x.answers)
	name, _ := t.body["name"].(string)
	object, _ := t.body["objectName"].(string)
	switch name {
	case "getParameterValues":
		list, _ := t.body["parameterNames"].([]any)
		for _, one := range list {
			path, _ := one.(string)
			if f := x.refresh(path); f != nil {
				return f
			}
		}
		return nil
	case "refreshObject":
		return x.refresh(object)
	case "setParameterValues":
		list, _ := t.body["parameterValues"].([]any)
		values := map[string]any{}
		for _, one := range list {
			pair, _ := one.([]any)
			path, _ := pair[0].(string)
			values[path] = pair[1]
		}
		return x.set(values)
	case "addObject":
		return x.addObject(object, t.body["parameterValues"])
	case "deleteObject":
		return x.deleteObject(object)
	case "reboot", "factoryReset":
		return x.restart(name)
	case "download":
		return x.download(t)
	case "provisions":
		list, _ := t.body["provisions"].([]any)
		for _, one := range list {
			call, _ := one.([]any)
			if len(call) == 0 {
				continue
			}
			script, _ := call[0].(string)
			if f := x.provision(script, call[1:]); f != nil {
				return f
			}
		}
	}
	return nil
}

// fresh is the time for which a value that was read or set is not read again. Source: docs/facts/genieacs.md#observed.
const fresh = time.Second

// refresh reads a parameter, or all below an object.
func (x *session) refresh(path string) *fault {
	if code := x.faults().Fail["GetParameterValues"]; code != "" {
		return x.refused(code, nil)
	}
	x.d.boxMu.Lock()
	defer x.d.boxMu.Unlock()
	found := x.d.box.below(path)
	for p := range maps.Clone(x.doc.leaves) {
		if p == path || strings.HasPrefix(p, path+".") {
			if !slices.Contains(found, p) {
				delete(x.doc.leaves, p)
			}
		}
	}
	for _, p := range found {
		if l := x.doc.leaves[p]; !l.read || x.now.Sub(l.at) >= fresh {
			x.remember(p)
		}
	}
	return nil
}

// addObject makes an instance beside the present ones, like the last of them and empty.
func (x *session) addObject(object string, values any) *fault {
	if code := x.faults().Fail["AddObject"]; code != "" {
		return x.refused(code, nil)
	}
	x.d.boxMu.Lock()
	last := x.d.box.addInstance(object)
	if last == 0 { // the server does not ask a device for an instance of what has none
		x.d.boxMu.Unlock()
		return nil
	}
	made := fmt.Sprintf("%s.%d", object, last)
	for _, p := range x.d.box.below(made) {
		x.remember(p)
	}
	x.d.boxMu.Unlock()
	set := map[string]any{}
	list, _ := values.([]any)
	for _, one := range list {
		pair, _ := one.([]any)
		name, _ := pair[0].(string)
		set[made+"."+name] = pair[1]
	}
	return x.set(set)
}

// deleteObject takes an instance away; one that is not there is no fault.
func (x *session) deleteObject(object string) *fault {
	if code := x.faults().Fail["DeleteObject"]; code != "" {
		return x.refused(code, nil)
	}
	x.d.boxMu.Lock()
	defer x.d.boxMu.Unlock()
	for _, p := range x.d.box.below(object) {
		delete(x.d.box.params, p)
		delete(x.doc.leaves, p)
	}
	return nil
}

// restart carries out a reboot or a factory reset, after the session.
func (x *session) restart(name string) *fault {
	rpc := map[string]string{"reboot": "Reboot", "factoryReset": "FactoryReset"}[name]
	if code := x.faults().Fail[rpc]; code != "" {
		return x.refused(code, nil)
	}
	if rpc == "Reboot" {
		x.planReboot(rpc)
	} else {
		x.planReset()
	}
	return nil
}

// planReboot boots the device after the session.
func (x *session) planReboot(what string) {
	x.doc.leaves[what] = leaf{value: x.now, kind: typeTime, at: x.now, writable: true, read: true}
	d := x.d
	x.after = append(x.after, func(ctx context.Context) {
		d.reboot(x.sim.clock.Now())
		x.sim.inform(ctx, d, boot, "M "+what)
	})
}

// planReset brings the device's settings back to those of its maker after the session.
func (x *session) planReset() {
	x.doc.leaves["FactoryReset"] = leaf{value: x.now, kind: typeTime, at: x.now, writable: true, read: true}
	d := x.d
	x.after = append(x.after, func(ctx context.Context) {
		x.sim.reset(d)
		x.sim.inform(ctx, d, bootstrap, boot)
	})
}

// reboot begins the device's uptime anew.
func (d *device) reboot(now time.Time) {
	d.boxMu.Lock()
	defer d.boxMu.Unlock()
	d.box.booted = now
}

// reset makes a device as its maker did; it keeps the firmware and the keys on its label.
func (s *Simulator) reset(d *device) {
	s.mu.Lock()
	s.state.resets++
	s.mu.Unlock()
	d.boxMu.Lock()
	defer d.boxMu.Unlock()
	firmware := d.box.params[d.cfg.Root+".DeviceInfo.SoftwareVersion"].value
	d.box = newBox(d.cfg, s.random(d.id), s.clock.Now())
	d.box.params[d.cfg.Root+".DeviceInfo.SoftwareVersion"].value = firmware
}

// random is the source of a device's keys and counters: the same for the same seed and id.
func (s *Simulator) random(id string) *rand.Rand {
	var sum uint64 = 14695981039346656037
	for i := range len(id) {
		sum = (sum ^ uint64(id[i])) * 1099511628211
	}
	return rand.New(rand.NewPCG(s.cfg.Seed, sum))
}

// download lets the device fetch a file from the file server after the session.
func (x *session) download(t *task) *fault {
	name, _ := t.body["file"].(string)
	kind, _ := t.body["fileType"].(string)
	if name == "" {
		name, _ = t.body["fileName"].(string)
	}
	s := x.sim
	s.mu.Lock()
	stored := s.state.files[name]
	s.mu.Unlock()
	if kind == "" && stored != nil {
		kind = stored.kind
	}
	if kind == "" {
		return scriptFault("Error", "Invalid arguments")
	}
	if code := x.faults().Fail["Download"]; code != "" {
		return x.refused(code, nil)
	}
	url, version := s.filesURL+"/"+escapeFile(name), ""
	if stored != nil {
		version = stored.version
	}
	d := x.d
	x.after = append(x.after, func(ctx context.Context) { s.transfer(ctx, d, t, url, kind, version) })
	return nil
}

// transfer lets a device fetch all of a file, take firmware, boot and tell.
func (s *Simulator) transfer(ctx context.Context, d *device, t *task, url, kind, version string) {
	s.mu.Lock()
	code, keeps := d.faults.TransferFault, d.faults.KeepFirmware
	s.mu.Unlock()
	began := s.clock.Now()
	if code == "" {
		if _, err := s.get(ctx, url); err != nil {
			code = "9016"
		}
	}
	events := []string{transferred, "M Download"}
	firmware := strings.HasPrefix(kind, "1 ") && code == ""
	if firmware {
		d.boxMu.Lock()
		if version != "" && !keeps {
			d.box.params[d.cfg.Root+".DeviceInfo.SoftwareVersion"].value = version
		}
		d.boxMu.Unlock()
		d.reboot(s.clock.Now())
		events = append([]string{boot}, events...)
	}
	x := s.openPatiently(ctx, d, events)
	if x == nil {
		return
	}
	x.carry()
	if code != "" {
		f := x.refused(code, nil)
		f.provisions, f.gone, f.retries = provisionsOf(t), t, t.failed
		t.failed++
		x.settle("task_"+string(t.id), f)
	} else {
		name := url[strings.LastIndex(url, "/")+1:]
		for field, value := range map[string]any{
			"FileType": kind, "LastFileName": name, "LastDownload": s.clock.Now(), "StartTime": began,
			"CompleteTime": s.clock.Now(),
		} {
			typed := typeText
			if _, is := value.(time.Time); is {
				typed = typeTime
			}
			x.doc.leaves["Downloads.1."+field] = leaf{value: value, kind: typed, at: x.now, read: true}
		}
	}
	x.presets()
	x.queue()
	s.end(x)
}

// openPatiently waits for the end of a session that is in the way; nil when the device is off.
func (s *Simulator) openPatiently(ctx context.Context, d *device, events []string) *session {
	for ctx.Err() == nil {
		if x := s.open(ctx, d, events); x != nil {
			return x
		}
		s.mu.Lock()
		busy, freed := d.busy && d.on, d.freed
		s.mu.Unlock()
		if !busy {
			return nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
		}
	}
	return nil
}

// builtin carries out the provisions that the server has itself.
func (x *session) builtin(name string, args []any) *fault {
	path := ""
	if len(args) > 0 {
		path, _ = args[0].(string)
	}
	switch {
	case name == "refresh" && path != "":
		return x.refresh(path)
	case name == "value" && len(args) > 1:
		return x.set(map[string]any{path: args[len(args)-1]})
	case name == "tag" && len(args) > 1:
		x.tag(flip{path, truth(args[1])})
		return nil
	case name == "reboot":
		return x.restart("reboot")
	case name == "reset":
		return x.restart("factoryReset")
	}
	return scriptFault("Error", "Unknown provision "+cmp.Or(name, "?"))
}

// tag sets or takes a tag, in the form of scripts, that is not so yet.
func (x *session) tag(f flip) {
	at := slices.Index(x.doc.tags, f.tag)
	switch {
	case f.on == (at >= 0):
		return
	case f.on:
		x.doc.tags = append(x.doc.tags, f.tag)
	default:
		x.doc.tags = slices.Delete(x.doc.tags, at, at+1)
	}
	x.changed = true
}
