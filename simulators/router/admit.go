package router

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// admit brings a session online that RADIUS has accepted, as far as the router can. It is called under the lock of the
// NAS, so it runs nothing that may end another session.
func (r *Router) admit(o handset.Offer) (handset.Admission, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := o.Session
	s := Session{
		Kind: in.Service, User: in.User, Server: in.Server, MAC: in.MAC, Rate: in.RateLimit, List: in.AddressList,
	}
	var active *row
	var out handset.Admission
	var err error
	switch {
	case r.off:
		err = fmt.Errorf("router %s is off", r.cfg.Name)
	case o.Given.IsValid():
		s.Address = o.Given.String()
	case o.Pool != "":
		s.Address, err = r.fromPool(o.Pool)
	case in.Service == handset.Hotspot:
		s.Address = in.Address
	}
	if err != nil {
		return out, err
	}
	if in.Service == handset.Hotspot {
		active, out, err = r.admitHotspot(s, in)
	} else {
		active, out, err = r.admitPPPoE(s, in)
	}
	if err != nil {
		return out, err
	}
	active.session = in.ID
	r.online[in.ID] = active
	out.Address, err = netip.ParseAddr(active.props["address"])
	return out, err
}

// admitPPPoE is admit for PPPoE. The interim interval of the accept counts before the router's own.
func (r *Router) admitPPPoE(s Session, in handset.Session) (*row, handset.Admission, error) {
	server, err := r.server("interface/pppoe-server/server", "service-name", s.Server)
	if err != nil {
		return nil, handset.Admission{}, err
	}
	active, err := r.bringUp(s, server, nil)
	if err != nil {
		return nil, handset.Admission{}, err
	}
	active.props["session-id"] = "0x" + strings.ToUpper(in.ID)
	aaa := r.tableOf("ppp/aaa").rows[0].props
	own, _ := parseSpan(aaa["interim-update"])
	profile := r.byName("ppp/profile", server.props["default-profile"]) // bringUp has found it
	return active, handset.Admission{
		RateLimit: profile.props["rate-limit"], Unreported: aaa["accounting"] != "true",
		Interim: cmp.Or(time.Duration(in.InterimSeconds)*time.Second, own),
	}, nil
}

// admitHotspot is admit for a hotspot. The interim interval of the accept counts only when the profile says so.
func (r *Router) admitHotspot(s Session, in handset.Session) (*row, handset.Admission, error) {
	server, err := r.server("ip/hotspot", "name", s.Server)
	if err != nil {
		return nil, handset.Admission{}, err
	}
	profile := r.byName("ip/hotspot/profile", server.props["profile"])
	if profile == nil {
		return nil, handset.Admission{}, fmt.Errorf("the profile of hotspot %s is gone", s.Server)
	}
	users := r.byName("ip/hotspot/user/profile", cmp.Or(in.Group, "default"))
	if users != nil {
		s.Rate = cmp.Or(s.Rate, users.props["rate-limit"])
	}
	active, err := r.enter(s, server, true)
	if err != nil {
		return nil, handset.Admission{}, err
	}
	interim := time.Duration(in.InterimSeconds) * time.Second
	if own := profile.props["radius-interim-update"]; own != "received" {
		interim, _ = parseSpan(own)
	}
	return active, handset.Admission{
		RateLimit: s.Rate, Unreported: profile.props["radius-accounting"] != "true", Interim: interim,
	}, nil
}
