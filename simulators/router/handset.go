package router

import (
	"maps"
	"strconv"

	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// ending is a session of RADIUS that the router ends, and why.
type ending struct {
	session string
	why     handset.Cause
}

// portOf reads a port; 0 for a text that is none.
func portOf(text string) uint16 {
	port, _ := strconv.ParseUint(text, 10, 16)
	return uint16(port)
}

// portsOf gives the interfaces that a session owns; none for a hotspot's.
func (r *Router) portsOf(active *row) []*row {
	var list []*row
	for _, w := range r.tableOf("interface").rows {
		if w.owner == active {
			list = append(list, w)
		}
	}
	return list
}

// flows shows the traffic of a handset's session on the rows of the router. The handset calls it.
func (r *Router) flows(s handset.Session) {
	r.lock()
	defer r.unlock()
	active := r.online[s.ID]
	if active == nil {
		return
	}
	for _, w := range append(r.portsOf(active), active) {
		f := r.flowOf(w)
		f.rx, f.tx, f.rxRate, f.txRate, f.since = s.BytesIn, s.BytesOut, s.InPerSecond, s.OutPerSecond, r.now()
	}
}

// turned changes the queue of a session that the server has changed. The handset calls it.
func (r *Router) turned(s handset.Session) {
	r.flows(s)
	r.lock()
	defer r.unlock()
	active := r.online[s.ID]
	limits := r.limits(s.RateLimit)
	if active == nil || limits == nil {
		return
	}
	for _, w := range r.tableOf("queue/simple").rows {
		if w.owner == active {
			for _, name := range []string{"burst-limit", "burst-threshold"} {
				w.props[name] = "0/0"
			}
			w.props["burst-time"], w.props["priority"] = "0s/0s", "8/8"
			maps.Copy(w.props, limits)
			return
		}
	}
	name, target := "<hotspot-"+s.User+">", s.Address+"/32"
	if ports := r.portsOf(active); len(ports) > 0 {
		name, target = ports[0].name(), ports[0].name()
	}
	r.shape(active, name, target, Session{Rate: s.RateLimit})
}

// ended removes the rows of a session that the handset has ended: by time, by the server or by the customer. The
// handset calls it.
func (r *Router) ended(s handset.Session, _ handset.Cause) {
	r.lock()
	defer r.unlock()
	active := r.online[s.ID]
	if active == nil {
		return // the router has ended it
	}
	delete(r.online, s.ID)
	active.session = ""
	for _, path := range []string{"ppp/active", "ip/hotspot/active"} {
		r.drop(path, active)
	}
}

// hangUp notes that a row in an active list is gone, so that its session ends and its customer dials again. The lock is
// held.
func (r *Router) hangUp(w *row) {
	if w.session != "" {
		delete(r.online, w.session)
		why := handset.AdminReset
		if r.cause != 0 {
			why = r.cause
		}
		r.ends = append(r.ends, ending{w.session, why})
	}
	for _, c := range r.customers {
		if c.row == w {
			c.ended(r.now())
			r.stir()
		}
	}
}

// loseCarrier ends the sessions on servers whose interface brings no clients any more. The lock is held.
func (r *Router) loseCarrier() {
	r.cause = handset.LostCarrier
	defer func() { r.cause = 0 }()
	for _, path := range []string{"interface/pppoe-server/server", "ip/hotspot"} {
		for _, server := range r.tableOf(path).rows {
			if r.closed(server.props["interface"]) != "" {
				r.dropOwned(server)
			}
		}
	}
}

// tunnelIn gives the SSTP client that runs; "" = none. The lock is held.
func (r *Router) tunnelIn() string {
	for _, w := range r.tableOf("interface").rows {
		if w.props["type"] == "sstp-out" && r.running(w) {
			return w.name()
		}
	}
	return ""
}
