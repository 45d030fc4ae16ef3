package router

import (
	"crypto/subtle"
	"strings"
)

// authenticate finds the user who logs in. nil means refused: a wrong password, a forbidden address, or a group without
// the policy of the protocol.
func (r *Router) authenticate(name, password, policy string) *caller {
	r.lock()
	defer r.unlock()
	w := r.byName("user", name)
	if w == nil || r.faults.Unauthorized || w.props["disabled"] == "true" || !inside(w.props["address"], r.seenFrom) ||
		subtle.ConstantTimeCompare([]byte(w.props["password"]), []byte(password)) != 1 {
		return nil
	}
	c := &caller{name: name, granted: map[string]bool{}}
	if group := r.byName("user/group", w.props["group"]); group != nil {
		for _, one := range splitList(group.props["policy"]) {
			if !strings.HasPrefix(one, "!") {
				c.granted[one] = true
			}
		}
	}
	if !c.granted[policy] {
		return nil
	}
	w.props["last-logged-in"] = r.version.date(r.now())
	return c
}
