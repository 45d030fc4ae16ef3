package router

import (
	"slices"

	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// menuCookies has the devices that hotspots sign in again without their page.
const menuCookies = "ip/hotspot/cookie"

// hasCookies reports whether a hotspot signs devices in again by a cookie, as its profile says.
func (r *Router) hasCookies(server string) bool {
	return r.hasLogin(server, "cookie", "mac-cookie")
}

// hasLogin reports whether a hotspot signs devices in in one of some ways, as its profile says.
func (r *Router) hasLogin(server string, ways ...string) bool {
	at := r.byName("ip/hotspot", server)
	if at == nil {
		return false
	}
	profile := r.byName("ip/hotspot/profile", at.props["profile"])
	return profile != nil && slices.ContainsFunc(splitList(profile.props["login-by"]),
		func(by string) bool { return slices.Contains(ways, by) })
}

// cookie finds the cookie of a user and a device; nil = none. The lock is held.
func (r *Router) cookie(user, mac string) *row {
	for _, w := range r.tableOf(menuCookies).rows {
		if w.props["user"] == user && w.props["mac-address"] == mac {
			return w
		}
	}
	return nil
}

// comeBack gives a device that signed in on the page of a hotspot a cookie, where the profile has them: from now on it
// signs in by itself whenever its session has ended, with what was typed once.
func (r *Router) comeBack(c handset.Customer, active *row) {
	r.lock()
	defer r.unlock()
	if active == nil || c.Service != handset.Hotspot || c.Method == handset.MACLogin ||
		!r.hasCookies(active.props["server"]) {
		return
	}
	c.MAC, c.Server = active.props["mac-address"], active.props["server"]
	if r.cookie(c.Name, c.MAC) == nil {
		r.insert(menuCookies, &row{dynamic: true, props: Item{
			"user": c.Name, "mac-address": c.MAC, "domain": "", "expires-in": "3d",
		}})
	}
	back := &customer{Customer: c, on: true, cookie: true, row: active}
	if !r.present(active) {
		back.offline(r.now())
	}
	r.customers[c.Name+" "+c.MAC] = back
	r.stir()
}

// dropGuests forgets the devices that are offline and came back by a cookie only, when there is none any more. The
// lock is held.
func (r *Router) dropGuests() {
	for name, c := range r.customers {
		if c.cookie && c.row == nil && !c.busy && (r.cookie(c.Name, c.MAC) == nil || !r.hasCookies(c.Server)) {
			delete(r.customers, name)
			r.stir()
		}
	}
}
