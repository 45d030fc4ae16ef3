package routerplan

import (
	"net/netip"
	"regexp"
	"strings"
)

// Menus with the users that a router itself knows, and the profiles that these have.
const (
	MenuPPPSecret          = "ppp/secret"
	MenuHotspotUser        = "ip/hotspot/user"
	MenuHotspotUserProfile = "ip/hotspot/user/profile"
)

// propertyLimit is the speed in a profile.
const propertyLimit = "rate-limit"

// What PPP secrets have for customers with subnets of their own.
const (
	propertyRoutes     = "routes"
	propertyIPv6Prefix = "remote-ipv6-prefix"
)

// CustomerReads lists what is read before CustomersOf. It has passwords.
func CustomerReads() []Read {
	return []Read{
		{Menu: MenuPPPProfile, Props: []string{propertyName, propertyLimit, "default", propertyComment}},
		{Menu: MenuHotspotUserProfile, Props: []string{propertyName, propertyLimit, "default"}},
		{Menu: MenuPPPSecret, Props: []string{
			propertyName, "password", "service", "profile", "caller-id", "remote-address",
			propertyRoutes, propertyIPv6Prefix, "limit-bytes-in", "limit-bytes-out", propertyComment,
			propertyDisabled, propertyDynamic,
		}},
		{Menu: MenuHotspotUser, Props: []string{
			propertyName, "password", "profile", "mac-address", propertyAddress, "limit-uptime", "limit-bytes-in",
			"limit-bytes-out", "limit-bytes-total", propertyComment, propertyDisabled, propertyDynamic, "default",
		}},
	}
}

// Customers are the users that a router itself knows, and their profiles, in the router's order. What the platform has
// written is not among them. Source: docs/rules/subscribers-import.md#from-a-router.
type Customers struct {
	Profiles []CustomerProfile
	Logins   []CustomerLogin
	// Hidden says that the router shows no password of anybody: its API user lacks the policy "sensitive".
	Hidden bool
}

// CustomerProfile has the speed of those who have it.
type CustomerProfile struct {
	Hotspot  bool // else PPP
	Name     string
	Standard bool   // each router has it, whether anybody uses it or not
	Limit    string // rate-limit as somebody wrote it: see ParseRateLimit
}

// CustomerLogin is a PPP secret or a user of the hotspot.
type CustomerLogin struct {
	Hotspot  bool
	Name     string
	Password string // in the clear, for the vault and nothing else; "" = none
	Profile  string // "" = one that the platform has written
	Service  string // of PPP: "any", "pppoe", "l2tp" and others
	Comment  string
	Address  string   // IPv4; "" = any, or one of a pool
	Prefix   string   // IPv6, as the router has it when it cannot be read; "" = none, or one of a pool
	Routes   []string // networks behind the customer, as the router has them, without gateway and metric
	MAC      string   // "" = any
	Disabled bool
	Caller   string // a caller-id that is no MAC; "" = none
	Limited  bool   // its time or its volume is limited
}

// CustomersOf reads the profiles and users of a router.
func CustomersOf(s Snapshot) Customers {
	out := Customers{Hidden: true}
	written := map[string]bool{} // profiles of PPP
	for _, r := range s[MenuPPPProfile] {
		if written[r[propertyName]] = ownProfile(r); !written[r[propertyName]] {
			out.profile(r, false)
		}
	}
	for _, r := range s[MenuHotspotUserProfile] {
		out.profile(r, true)
	}
	for _, r := range s.static(MenuPPPSecret) {
		l := loginOf(r)
		if written[l.Profile] {
			l.Profile = ""
		}
		l.Service = r["service"]
		if ip, err := netip.ParseAddr(r["remote-address"]); err == nil && ip.Is4() && !ip.IsUnspecified() {
			l.Address = ip.String()
		}
		l.Prefix = strings.TrimSpace(r[propertyIPv6Prefix])
		if prefix, err := netip.ParsePrefix(l.Prefix); err == nil && prefix.Bits() > 0 {
			l.Prefix = prefix.String()
		} else if err == nil {
			l.Prefix = "" // ::/0 stands for one of a pool
		}
		for route := range strings.SplitSeq(r[propertyRoutes], ",") {
			if words := strings.Fields(route); len(words) > 0 {
				l.Routes = append(l.Routes, words[0])
			}
		}
		if l.MAC = observedMAC(r["caller-id"]); l.MAC == "" {
			l.Caller = r["caller-id"]
		}
		l.Limited = l.Limited || limits(r["limit-bytes-in"], r["limit-bytes-out"])
		out.login(r, l)
	}
	for _, r := range s.static(MenuHotspotUser) {
		if isTrue(r["default"]) || r[propertyName] == trialUser {
			continue
		}
		l := loginOf(r)
		l.Hotspot = true
		l.Address = observedAddress(r)
		if l.MAC = observedMAC(r["mac-address"]); l.MAC == anyMAC {
			l.MAC = ""
		}
		l.Limited = limits(r["limit-uptime"], r["limit-bytes-in"], r["limit-bytes-out"], r["limit-bytes-total"])
		out.login(r, l)
	}
	out.Hidden = out.Hidden && len(out.Logins) > 0
	return out
}

// Rows that every hotspot has, and the MAC that stands for each one.
const (
	trialUser = "default-trial"
	anyMAC    = "00:00:00:00:00:00"
)

// profile adds a profile.
func (c *Customers) profile(r Row, hotspot bool) {
	c.Profiles = append(c.Profiles, CustomerProfile{
		Hotspot: hotspot, Name: r[propertyName], Standard: isTrue(r["default"]) || r[propertyName] == "default" ||
			!hotspot && r[propertyName] == "default-encryption",
		Limit: strings.TrimSpace(r[propertyLimit]),
	})
}

// loginOf reads what both menus have.
func loginOf(r Row) CustomerLogin {
	l := CustomerLogin{
		Name: r[propertyName], Password: r["password"], Profile: r["profile"], Comment: r[propertyComment],
		Disabled: isTrue(r[propertyDisabled]),
	}
	if strings.Trim(l.Password, "*") == "" {
		l.Password = "" // how some releases show one that they hide
	}
	return l
}

// login adds a user, unless the platform has written it.
func (c *Customers) login(r Row, l CustomerLogin) {
	if _, tagged := taggedService(r[propertyComment]); tagged || l.Name == "" {
		return
	}
	c.Hidden = c.Hidden && l.Password == ""
	c.Logins = append(c.Logins, l)
}

// limits reports whether one of the limits of a user is one.
func limits(values ...string) bool {
	for _, v := range values {
		if n := strings.Trim(v, "0s:"); n != "" && n != "none" && n != "never" {
			return true
		}
	}
	return false
}

// profileForm is a name that only the platform gives to a profile.
var profileForm = regexp.MustCompile(`^ppp-prof-svc-[0-9a-f]{8}$`)

// ownProfile reports whether the platform has written a profile of PPP, that of its tunnel among them: releases before
// 7.9 have no comments there.
func ownProfile(r Row) bool {
	_, tagged := taggedService(r[propertyComment])
	return tagged || profileForm.MatchString(r[propertyName]) || r[propertyName] == TunnelInterface
}
