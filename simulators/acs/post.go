package acs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// postTask queues a task, asks a device to come, or both. Source: docs/facts/genieacs.md#task-answers.
func postTask(x *exchange) {
	s, id := x.s, x.part[0]
	values := x.r.URL.Query()
	call := values.Has("connection_request")
	var body map[string]any
	if len(x.body) > 0 {
		var ok bool
		if body, ok = x.object(); !ok {
			return
		}
	}
	if body == nil && !call {
		x.w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	d := s.state.devices[id]
	known := d != nil && d.doc != nil
	s.mu.Unlock()
	if !known {
		x.text(http.StatusNotFound, "No such device")
		return
	}
	if body == nil {
		x.callOnly(d)
		return
	}
	if call && !s.unlocked(x.r.Context(), d) {
		t := x.insert(id, body)
		x.reasoned(http.StatusAccepted, "Task queued but not processed", jsonType, t)
		return
	}
	answer := x.insert(id, body)
	if !call {
		x.w.Header().Set("Content-Type", jsonType)
		x.w.WriteHeader(http.StatusAccepted)
		_, _ = x.w.Write(answer)
		return
	}
	wait := s.cfg.SessionWait
	if ms, err := strconv.Atoi(values.Get("timeout")); err == nil {
		wait = time.Duration(ms) * time.Millisecond
	}
	var named struct {
		ID string `json:"_id"`
	}
	_ = json.Unmarshal(answer, &named)
	if reason := x.call(d, wait, named.ID); reason != "" {
		x.reasoned(http.StatusAccepted, reason, jsonType, answer)
		return
	}
	x.w.Header().Set("Content-Type", jsonType)
	_, _ = x.w.Write(answer)
}

// jsonType is the type of answers with a task.
const jsonType = "application/json"

// unlocked waits for the end of a device's session; false when it lasts too long.
func (s *Simulator) unlocked(ctx context.Context, d *device) bool {
	limit := time.NewTimer(s.cfg.LockWait)
	defer limit.Stop()
	for {
		s.mu.Lock()
		busy, held, freed := d.busy, d.faults.Held, d.freed
		s.mu.Unlock()
		if held {
			freed = nil // it never ends
		}
		if !busy && !held {
			return true
		}
		select {
		case <-freed:
		case <-limit.C:
			return false
		case <-ctx.Done():
			return false
		case <-s.run.Done():
			return false
		}
	}
}

// insert checks a task as the server does, puts it into the queue and gives its JSON.
func (x *exchange) insert(device string, body map[string]any) []byte {
	if !soundTask(body) {
		x.s.crash(x.r.Context())
	}
	s := x.s
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now().Truncate(time.Millisecond)
	t := &task{device: device, at: now, body: maps.Clone(body)}
	switch expiry := body["expiry"].(type) {
	case float64:
		t.expiry = now.Add(time.Duration(expiry * float64(time.Second)))
	case string:
		t.expiry, _ = time.Parse(time.RFC3339Nano, expiry)
	}
	if key, ok := body["uniqueKey"].(string); ok && key != "" {
		s.state.tasks = slices.DeleteFunc(s.state.tasks, func(o *task) bool {
			return o.device == device && o.body["uniqueKey"] == key
		})
	}
	t.id = s.newID()
	s.state.tasks = append(s.state.tasks, t)
	text, err := json.Marshal(plainValue(t.fields()))
	if err != nil {
		panic(aborted)
	}
	return text
}

// soundTask reports whether the server takes a task; it breaks off at another one.
func soundTask(t map[string]any) bool {
	texts := func(name string) bool {
		list, ok := t[name].([]any)
		return ok && len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool {
			text, ok := v.(string)
			return !ok || text == ""
		})
	}
	pairs := func(v any) bool {
		list, ok := v.([]any)
		return ok && !slices.ContainsFunc(list, func(v any) bool { return !soundPair(v) })
	}
	text := func(name string) bool {
		v, ok := t[name].(string)
		return ok && v != ""
	}
	_, object := t["objectName"].(string)
	switch t["name"] {
	case "getParameterValues":
		return texts("parameterNames")
	case "setParameterValues":
		list, _ := t["parameterValues"].([]any)
		return len(list) > 0 && pairs(t["parameterValues"])
	case "refreshObject":
		return object
	case "deleteObject":
		return text("objectName")
	case "addObject":
		return t["parameterValues"] == nil || pairs(t["parameterValues"])
	case "download":
		return text("file") || text("fileType") && text("fileName")
	case "provisions":
		list, ok := t["provisions"].([]any)
		return ok && !slices.ContainsFunc(list, func(v any) bool {
			_, ok := v.([]any)
			return !ok
		})
	}
	return t["name"] == "reboot" || t["name"] == "factoryReset"
}

// soundPair reports whether a value of a parameter is one.
func soundPair(v any) bool {
	pair, ok := v.([]any)
	if !ok || len(pair) < 2 {
		return false
	}
	name, _ := pair[0].(string)
	switch pair[1].(type) {
	case string, bool, float64:
	default:
		return false
	}
	if len(pair) > 2 && pair[2] != nil {
		if _, ok := pair[2].(string); !ok {
			return false
		}
	}
	return name != ""
}

// call asks a device to come and waits for its session. It gives the reason why the task is not done; "" when it is.
func (x *exchange) call(d *device, wait time.Duration, task string) string {
	s := x.s
	reason := s.reach(x, d)
	if reason != "" {
		return reason
	}
	s.mu.Lock()
	mute := d.faults.NoSession
	s.mu.Unlock()
	if mute {
		select {
		case <-time.After(wait):
		case <-x.r.Context().Done():
		case <-s.run.Done():
		}
		return "Task queued but not processed"
	}
	if !s.begin(x.r.Context(), d) {
		return "Task queued but not processed"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.faults[d.id+":task_"+task] != nil {
		return "Task faulted"
	}
	return ""
}

// begin runs the session of a connection request; of one that is running already, the device makes another.
func (s *Simulator) begin(ctx context.Context, d *device) bool {
	x := s.openPatiently(ctx, d, []string{connection})
	if x == nil {
		return false
	}
	x.carry()
	x.presets()
	x.queue()
	s.end(x)
	return true
}

// reach makes a connection request. It gives the reason why it failed, and breaks off for a device without an address.
func (s *Simulator) reach(x *exchange, d *device) string {
	s.mu.Lock()
	on, nat, doc := d.on && !d.gone, d.cfg.NAT, d.doc
	s.mu.Unlock()
	address := ""
	if doc != nil {
		for _, root := range []string{rootTR098, rootTR181} {
			if text, _ := doc.leaves[root+".ManagementServer.ConnectionRequestURL"].value.(string); text != "" {
				address = text
				break
			}
		}
	}
	switch {
	case doc == nil || address == "":
		s.crash(x.r.Context())
	case strings.HasPrefix(address, "https:"):
		return "Invalid connection request URL or protocol"
	case !strings.HasPrefix(address, "http:"):
		return "Invalid connection request URL"
	case !on || nat:
		return "Device is offline"
	}
	return ""
}

// callOnly is a connection request without a task: its answer does not wait for the session.
func (x *exchange) callOnly(d *device) {
	if reason := x.s.reach(x, d); reason != "" {
		x.reasoned(http.StatusGatewayTimeout, reason, "", []byte(reason))
		return
	}
	x.s.mu.Lock()
	mute := d.faults.NoSession
	x.s.mu.Unlock()
	if !mute {
		x.s.later(func(ctx context.Context) { x.s.begin(ctx, d) })
	}
	x.w.WriteHeader(http.StatusOK)
}

// escapeFile writes a file's name for an address.
func escapeFile(name string) string {
	var out strings.Builder
	for i := range len(name) {
		b := name[i]
		if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' ||
			strings.IndexByte("-_.!~*'()", b) >= 0 {
			out.WriteByte(b)
			continue
		}
		fmt.Fprintf(&out, "%%%02X", b)
	}
	return out.String()
}
