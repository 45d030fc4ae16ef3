package router

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxRuns bounds the scheduled runs that are made up for at once, when the clock has jumped far ahead.
const maxRuns = 1000

// startupDelay is the time from a boot to the runs of entries with start-time=startup.
const startupDelay = 3 * time.Second

// lock takes the lock, ends the leases that are over and runs the scheduled scripts that are due by the router's clock:
// so every caller finds the router as it is at this moment.
func (r *Router) lock() {
	r.mu.Lock()
	r.expireLeases()
	r.tick()
}

// unlock ends the lock and then ends the sessions of RADIUS whose rows were removed under it.
func (r *Router) unlock() {
	ends, cut := r.ends, r.cut
	r.ends, r.cut = nil, false
	r.mu.Unlock()
	if cut && r.nas != nil {
		r.nas.PowerCut()
	}
	for _, e := range ends {
		r.nas.SignOut(e.session, e.why)
	}
}

// tick runs what is due in system/scheduler, in order of time. The lock is held.
func (r *Router) tick() {
	if r.off || r.ticking || len(r.due) == 0 || r.forbids(menuScheduler) {
		return
	}
	r.ticking = true
	defer func() { r.ticking = false }()
	for runs := 0; ; runs++ {
		w := r.nextDue()
		if w == nil {
			return
		}
		after := r.due[w]
		if runs >= maxRuns {
			after = r.wall()
		}
		r.schedule(w, after)
		w.props["run-count"] = count(w.props["run-count"])
		r.runStored(w.props["on-event"], w.props["owner"], w.props["policy"])
	}
}

// nextDue gives the entry that is due and waits longest; nil when none is due.
func (r *Router) nextDue() *row {
	var first *row
	for _, w := range r.tableOf("system/scheduler").rows {
		at, ok := r.due[w]
		if ok && !at.After(r.wall()) && (first == nil || at.Before(r.due[first])) {
			first = w
		}
	}
	return first
}

// count adds one to a number written as text; "" is 0.
func count(text string) string {
	n, _ := strconv.Atoi(text)
	return strconv.Itoa(n + 1)
}

// StepClock moves the router's own clock, as a time server or a person does. A next run keeps its date and time: after
// a step back it comes later by the step, after one ahead it may be due at once.
func (r *Router) StepClock(by time.Duration) {
	r.lock()
	defer r.unlock()
	r.skew += by
	r.tick()
}

// maxNested bounds stored scripts that run stored scripts.
const maxNested = 10

// runStored runs a script, or the one of system/script that has this name, with the rights of some policies. Its faults
// go to the log, as on a router. The lock is held.
func (r *Router) runStored(source, owner, policy string) {
	if r.nested >= maxNested {
		r.lines = append(r.lines, owner+" script failed: maximum recursion depth exceeded")
		return
	}
	r.nested++
	defer func() { r.nested-- }()
	who := &caller{name: owner, granted: map[string]bool{}}
	for _, one := range splitList(policy) {
		who.granted[one] = true
	}
	if w := r.byName("system/script", strings.TrimSpace(source)); w != nil {
		source = w.props["source"]
		w.props["run-count"], w.props["last-started"] = count(w.props["run-count"]), r.version.date(r.wall())
	}
	m := &machine{r: r, who: who, inside: true, globals: map[string]any{}}
	if err := m.text(source); err != nil {
		r.lines = append(r.lines, owner+" script failed: "+err.Error())
	}
}

// schedule computes when an entry runs next, after an instant. An entry that has no next run is not due. Source:
// docs/facts/routeros.md#scheduler.
func (r *Router) schedule(w *row, after time.Time) {
	delete(r.due, w)
	if w.props["disabled"] == "true" {
		return
	}
	every, _ := parseSpan(w.props["interval"])
	at := r.booted.Add(r.skew + startupDelay)
	if w.props["start-time"] != "startup" {
		at = r.startOf(w)
	} else if every > 0 {
		at = at.Add(every)
	}
	if !at.After(after) {
		if every <= 0 {
			return
		}
		at = at.Add((after.Sub(at)/every + 1) * every)
	}
	r.due[w] = at
}

// startOf reads start-date and start-time, in UTC.
func (r *Router) startOf(w *row) time.Time {
	for _, layout := range []string{"2006-01-02 15:04:05", "Jan/02/2006 15:04:05"} {
		if at, err := time.Parse(layout, w.props["start-date"]+" "+w.props["start-time"]); err == nil {
			return at
		}
	}
	return r.wall()
}

// rescheduleAll computes the next runs after a boot: what was missed while the router was off is not made up for.
func (r *Router) rescheduleAll() {
	for _, w := range r.tableOf("system/scheduler").rows {
		r.schedule(w, r.wall())
	}
}

// eventPolicies are the policies that a stored script may have.
var eventPolicies = []string{
	"ftp", "reboot", "read", "write", "policy", "test", "password", "sniff", "sensitive", "romon", "dude",
}

// grantable accepts a list of policies that the caller has; a script with more rights than its author is refused.
func grantable(r *Router, prop, value string) (string, *Trap) {
	for _, one := range splitList(value) {
		if !slices.Contains(eventPolicies, one) {
			return "", mismatch(prop)
		}
		if !r.acting.may(one) {
			return "", noPermission()
		}
	}
	return value, nil
}

// own fills in the owner, and the policies that the owner has.
func own(r *Router, w *row) {
	w.props["owner"] = r.cfg.User
	if r.acting != nil {
		w.props["owner"] = r.acting.name
	}
	if w.props["policy"] == "" {
		var has []string
		for _, one := range eventPolicies[:len(eventPolicies)-1] {
			if r.acting.may(one) {
				has = append(has, one)
			}
		}
		w.props["policy"] = strings.Join(has, ",")
	}
	if w.props["run-count"] == "" {
		w.props["run-count"] = "0"
	}
}

// startTime accepts "startup" or a time of the day.
func startTime(_ *Router, prop, value string) (string, *Trap) {
	if value == "startup" {
		return value, nil
	}
	if d, ok := parseSpan(value); ok && d < 24*time.Hour {
		return time.Time{}.Add(d).Format("15:04:05"), nil
	}
	return "", badValue(prop)
}

// wholeSeconds accepts an interval of whole seconds; 0 is one.
func wholeSeconds(r *Router, prop, value string) (string, *Trap) {
	if d, ok := parseSpan(value); ok && d%time.Second != 0 {
		return "", badValue(prop)
	}
	return interval()(r, prop, value)
}

// startDate accepts a date in either form, and stores it in that of the release.
func startDate(r *Router, prop, value string) (string, *Trap) {
	for _, layout := range []string{"2006-01-02", "Jan/02/2006"} {
		if at, err := time.Parse(layout, value); err == nil {
			day, _, _ := strings.Cut(r.version.date(at), " ")
			return day, nil
		}
	}
	return "", badValue(prop)
}

// menuScheduler has the scheduled scripts.
const menuScheduler = "system/scheduler"

// showEntry adds when an entry runs next. An entry that the device mode has stopped is inactive and says why.
func showEntry(r *Router, w *row, out Item) {
	if at, ok := r.due[w]; ok {
		out["next-run"] = r.version.date(at)
	}
	if r.forbids(menuScheduler) {
		delete(out, "next-run")
		out["inactive"], out[".about"] = "true", "inactivated, not allowed by device-mode"
	}
}

// scheduleMenus has scheduled and stored scripts, and the clock.
func scheduleMenus() []menu {
	return []menu{
		{
			path: "system/scheduler", named: true, comment: true, unique: []string{"name"},
			dup: "failure: item with this name already exists",
			props: []prop{
				text("name", "schedule1"), {name: "start-date", check: startDate},
				{name: "start-time", check: startTime}, {name: "interval", def: "0s", check: wholeSeconds},
				text("on-event", blank), {name: "policy", check: grantable}, onByDefault,
			},
			state: []string{"owner", "run-count", "next-run"},
			show:  showEntry,
			added: func(r *Router, w *row) *Trap {
				own(r, w)
				day, hour, _ := strings.Cut(r.version.date(r.wall()), " ")
				if w.props["start-date"] == "" {
					w.props["start-date"] = day
				}
				if w.props["start-time"] == "" {
					w.props["start-time"] = hour
				}
				r.schedule(w, r.wall())
				return nil
			},
			changed: func(r *Router, w *row, _ Item) { r.schedule(w, r.wall()) },
		},
		{
			path: "system/script", named: true, comment: true, unique: []string{"name"},
			dup: "failure: item with this name already exists",
			props: []prop{
				text("name", "script1"), text("source", blank), {name: "policy", check: grantable},
				no("dont-require-permissions"),
			},
			state: []string{"owner", "run-count", "last-started", "invalid"}, commands: []string{"run"},
			show: func(_ *Router, _ *row, out Item) { out["invalid"] = "false" },
			added: func(r *Router, w *row) *Trap {
				own(r, w)
				return nil
			},
			command: runScript,
		},
		{
			path: "system/clock", single: true, props: []prop{yes("time-zone-autodetect")},
			state: []string{"date", "time", "time-zone-name"},
			show: func(r *Router, _ *row, out Item) {
				out["date"], out["time"], _ = strings.Cut(r.version.date(r.wall()), " ")
				out["time-zone-name"] = "UTC"
			},
		},
	}
}

// runScript runs stored scripts. The caller needs every policy that a script has.
func runScript(r *Router, c call) (reply, *Trap) {
	rows, trap := r.targets(r.menus["system/script"], c.args)
	if trap != nil {
		return reply{}, trap
	}
	for _, w := range rows {
		for _, one := range splitList(w.props["policy"]) {
			if w.props["dont-require-permissions"] != "true" && !c.who.may(one) {
				return reply{}, noPermission()
			}
		}
		r.runStored(w.name(), w.props["owner"], w.props["policy"])
	}
	return reply{}, nil
}
