package acs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// state is all that the server keeps, guarded by the simulator's lock.
type state struct {
	devices    map[string]*device
	tasks      []*task // oldest first
	faults     map[string]*fault
	presets    map[string]map[string]any
	objects    map[string]map[string]any
	provisions map[string]string
	virtual    map[string]string
	files      map[string]*storedFile
	identify   Identify
	signIn     string // the expression of cwmp.auth
	server     Faults
	ids        uint64 // of tasks, given so far
	calls      int    // of the extension
	resets     int    // of devices to their makers' settings
	lines      []string
	requests   []string
}

// newState is an empty server.
func newState(identify Identify) state {
	return state{
		devices: map[string]*device{}, faults: map[string]*fault{}, presets: map[string]map[string]any{},
		objects: map[string]map[string]any{}, provisions: map[string]string{}, virtual: map[string]string{},
		files: map[string]*storedFile{}, identify: identify,
	}
}

// device is a box and what the server knows of it.
type device struct {
	id  string
	cfg DeviceConfig

	box    *box       // guarded by boxMu
	boxMu  sync.Mutex // held for single reads and writes only
	doc    *document  // nil until the first session has ended; never changed but by a whole new one, and its tags
	busy   bool       // in session
	freed  chan struct{}
	on     bool
	gone   bool // taken away: it never informs again
	next   time.Time
	first  bool // it has yet to send its bootstrap
	faults DeviceFaults
}

// leaf is a parameter as the server remembers it.
type leaf struct {
	value    any // string, bool, float64 or time.Time
	kind     string
	at       time.Time
	writable bool
	read     bool // it has a value
}

// document is a device in the server's collection.
type document struct {
	id                               string
	manufacturer, oui, class, serial string
	registered, inform, boot, reset  time.Time // reset is the last bootstrap
	tags                             []string
	leaves                           map[string]leaf
}

// clone copies a document, so that a session works on its own.
func (d *document) clone() *document {
	out := *d
	out.tags = slices.Clone(d.tags)
	out.leaves = maps.Clone(d.leaves)
	return &out
}

// oid is an id of a task: 24 hexadecimal digits.
type oid string

// newID makes the next id of a task; the lock is held.
func (s *Simulator) newID() oid {
	s.state.ids++
	return oid(fmt.Sprintf("%08x%04x%012x", uint32(s.clock.Now().Unix()), uint16(s.cfg.Seed), s.state.ids))
}

// task is work for a device, as it was posted.
type task struct {
	id     oid
	device string
	at     time.Time
	expiry time.Time // zero = never
	body   map[string]any
	failed int // so many times, after the device had accepted it
}

// fields are the task as a document.
func (t *task) fields() map[string]any {
	out := maps.Clone(t.body)
	out["_id"], out["device"], out["timestamp"] = t.id, t.device, t.at
	if !t.expiry.IsZero() {
		out["expiry"] = t.expiry
	}
	return out
}

// fault is an error of a device's session.
type fault struct {
	device, channel, code string
	message               any // a text, unless a script made it
	at                    time.Time
	retries               int
	detail                map[string]any
	provisions            string
	// gone is a task that failed after it had ended: a download that the device had accepted. nil for all others.
	gone *task
	// preset is the provision of a preset that failed, which runs again when its time has come, whatever the session.
	preset *chosen
}

// id is device and channel.
func (f *fault) id() string { return f.device + ":" + f.channel }

// fields are the fault as a document.
func (f *fault) fields() map[string]any {
	out := map[string]any{
		"_id": f.id(), "device": f.device, "channel": f.channel, "timestamp": f.at, "code": f.code,
		"message": f.message, "retries": float64(f.retries), "provisions": f.provisions,
	}
	if f.detail != nil {
		out["detail"] = f.detail
	}
	return out
}

// retryDelay is the time until the first repeat of what failed; it doubles. Source: docs/facts/genieacs.md#queue.
const retryDelay = 300 * time.Second

// holds reports whether a fault keeps its channel from running now.
func (f *fault) holds(now time.Time) bool {
	return f != nil && now.Before(f.at.Add(retryDelay<<min(f.retries, 16)))
}

// escapePart writes a part of an id as the server does: other bytes than letters, digits and _ are %XX.
func escapePart(text string) string {
	var out strings.Builder
	for i := range len(text) {
		b := text[i]
		if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' {
			out.WriteByte(b)
			continue
		}
		fmt.Fprintf(&out, "%%%02X", b)
	}
	return out.String()
}

// idOf is the server's id of a device.
func idOf(oui, class, serial string) string {
	parts := []string{escapePart(oui)}
	if class != "" {
		parts = append(parts, escapePart(class))
	}
	return strings.Join(append(parts, escapePart(serial)), "-")
}
