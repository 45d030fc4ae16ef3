package commands

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/loginname"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// NetworkPasswordPurpose is the purpose under which the vault seals the passwords of subscriptions.
const NetworkPasswordPurpose = "network_password"

// FirstPassword is the reference of the password with which a subscription is made.
func FirstPassword(subscription id.Subscription) id.Secret {
	return id.Derive[id.Secret](NetworkPasswordPurpose, subscription.String())
}

// ServiceAddresses are the addresses that belong to a subscription, in the form in which events have them. The zero
// value is none.
type ServiceAddresses struct {
	StaticIP         personal.Text
	StaticIPv6Prefix personal.Text
	MACAddresses     []personal.Text
	Routes           []personal.Text
}

// IsZero reports whether there is no address at all.
func (a ServiceAddresses) IsZero() bool {
	return a.StaticIP.IsZero() && a.StaticIPv6Prefix.IsZero() && len(a.MACAddresses) == 0 &&
		len(a.Routes) == 0
}

// AssignAddresses replaces all addresses of a subscription. Fails: subscription_not_found, subscription_ended,
// static_ip_taken, static_ipv6_prefix_taken, route_taken.
type AssignAddresses struct {
	SubscriptionID id.Subscription
	Addresses      ServiceAddresses
}

// SetCredentials replaces username and password. The vault must have the password already. Fails:
// subscription_not_found, subscription_ended, username_taken.
type SetCredentials struct {
	SubscriptionID id.Subscription
	Username       personal.Text
	PasswordRef    id.Secret
}

// ShowCredentials records that the caller is about to be given username and password. Fails: subscription_not_found.
type ShowCredentials struct {
	SubscriptionID id.Subscription
	PasswordRef    id.Secret // zero = there is no password
}

func (AssignAddresses) CommandName() string { return "subscribers.AssignAddresses" }
func (SetCredentials) CommandName() string  { return "subscribers.SetCredentials" }
func (ShowCredentials) CommandName() string { return "subscribers.ShowCredentials" }

func (AssignAddresses) subscriptionCommand() {}
func (SetCredentials) subscriptionCommand()  {}
func (ShowCredentials) subscriptionCommand() {}

func (c AssignAddresses) Target() Target { return At(SubscriptionCategory, c.SubscriptionID) }
func (c SetCredentials) Target() Target  { return At(SubscriptionCategory, c.SubscriptionID) }
func (c ShowCredentials) Target() Target { return At(SubscriptionCategory, c.SubscriptionID) }

// Validate checks the form of the addresses.
func (c AssignAddresses) Validate() error {
	var f failure.Faults
	checkAddresses(&f, c.Addresses)
	return f.Err()
}

// Validate checks the form of the username, and that a password is named.
func (c SetCredentials) Validate() error {
	var f failure.Faults
	checkUsername(&f, c.Username)
	f.Check(!c.PasswordRef.IsZero(), "password", "is required")
	return f.Err()
}

func (ShowCredentials) Validate() error { return nil }

// checkUsername checks the form of a username.
func checkUsername(f *failure.Faults, username personal.Text) {
	if fault := loginname.Fault(username.Reveal()); fault != "" {
		f.Add("username", fault)
	}
}

// Limits of addresses. A prefix is one that is usual for a household or a business, in bits.
const (
	MaxMACs         = 16 // addresses of equipment of one service
	MaxRoutes       = 16 // networks behind one service
	shortestRoute   = 16 // of IPv4, in bits
	shortestPrefix  = 40
	longestPrefix   = 64
	firstReservedIP = 240 // first byte of the addresses of class E and of the broadcast address
)

// checkAddresses checks addresses that NormalAddresses has read: what it could not read is as it was given.
func checkAddresses(f *failure.Faults, a ServiceAddresses) {
	ip := a.StaticIP.Reveal()
	f.Check(ip == "" || usableIP(ip), "staticIp", "must be an IPv4 address that one customer can have")
	prefix := a.StaticIPv6Prefix.Reveal()
	f.Check(prefix == "" || usablePrefix(prefix), "staticIpv6Prefix",
		"must be an IPv6 prefix of %d to %d bits, such as 2001:db8:1:100::/56", shortestPrefix, longestPrefix)
	f.Check(len(a.MACAddresses) <= MaxMACs, "macAddresses", "must have at most %d addresses", MaxMACs)
	f.Check(!slices.ContainsFunc(personal.RevealAll(a.MACAddresses), func(mac string) bool { return !macForm(mac) }),
		"macAddresses", "must be addresses of equipment, such as AA:BB:CC:DD:EE:FF")
	checkRoutes(f, personal.RevealAll(a.Routes))
}

// checkRoutes checks that routes are networks which a customer can have, and that none lies within another.
func checkRoutes(f *failure.Faults, routes []string) {
	f.Check(len(routes) <= MaxRoutes, "routes", "must have at most %d networks", MaxRoutes)
	var known []netip.Prefix
	for _, text := range routes {
		route, err := netip.ParsePrefix(text)
		switch {
		case err != nil || !usableRoute(text, route):
			f.Add("routes", "must be networks such as 203.0.113.0/29 (%d to 32 bits) or 2001:db8:5::/48 (%d to %d)",
				shortestRoute, shortestPrefix, longestPrefix)
			return
		case route.Overlaps(CustomerPlan) || route.Overlaps(ManagementPlan) || route.Overlaps(TunnelPlan):
			f.Add("routes", "must not overlap networks of the platform, such as %s", CustomerPlan)
			return
		case slices.ContainsFunc(known, route.Overlaps):
			f.Add("routes", "must not overlap each other")
			return
		}
		known = append(known, route)
	}
}

// usableRoute reports whether a network in its usual form may be behind a customer's address.
func usableRoute(text string, route netip.Prefix) bool {
	if !route.Addr().Is4() {
		return usablePrefix(text)
	}
	return route.Bits() >= shortestRoute && isUsable(route) && route.Masked().String() == text
}

// usableIP reports whether a text is an IPv4 address in its usual form that equipment can have in some network.
func usableIP(text string) bool {
	ip, err := netip.ParseAddr(text)
	return err == nil && ip.Is4() && ip.String() == text && ip.As4()[0] != 0 && ip.As4()[0] < firstReservedIP &&
		!ip.IsLoopback() && !ip.IsMulticast() && !ip.IsLinkLocalUnicast()
}

// usablePrefix reports whether a text is an IPv6 prefix in its usual form that a customer can have.
func usablePrefix(text string) bool {
	prefix, err := netip.ParsePrefix(text)
	return err == nil && prefix.Addr().Is6() && !prefix.Addr().Is4In6() && prefix.Addr().IsGlobalUnicast() &&
		prefix.Bits() >= shortestPrefix && prefix.Bits() <= longestPrefix && prefix.Masked().String() == text
}

// macForm reports whether a text is a MAC address as NormalMAC writes it, of one piece of equipment: group addresses
// and the empty address are none.
func macForm(text string) bool {
	digits := macDigits(text)
	return digits != "" && text == NormalMAC(text) && strings.IndexByte("02468ACE", digits[1]) >= 0 &&
		strings.Trim(digits, "0") != ""
}

// NormalMAC writes a MAC address of any usual notation as "AA:BB:CC:DD:EE:FF". What is no address stays as it is.
func NormalMAC(text string) string {
	digits := macDigits(text)
	if digits == "" {
		return text
	}
	pairs := make([]string, 6)
	for i := range pairs {
		pairs[i] = digits[2*i : 2*i+2]
	}
	return strings.Join(pairs, ":")
}

// betweenPairs takes out what people write between the pairs of digits of a MAC address.
var betweenPairs = strings.NewReplacer(":", "", "-", "", ".", "")

// macDigits are the twelve capital digits of a MAC address in any usual notation, "" for any other text.
func macDigits(text string) string {
	digits := strings.ToUpper(betweenPairs.Replace(inputtext.Code(text)))
	if len(digits) != 12 || strings.Trim(digits, "0123456789ABCDEF") != "" {
		return ""
	}
	return digits
}

// NormalAddresses writes addresses as events have them: each MAC address once, and in the order in which they were
// given. What cannot be read stays as it is, for the command to refuse.
func NormalAddresses(a ServiceAddresses) ServiceAddresses {
	a.StaticIP = personal.Of(inputtext.Code(a.StaticIP.Reveal()))
	prefix := inputtext.Code(a.StaticIPv6Prefix.Reveal())
	if read, err := netip.ParsePrefix(prefix); err == nil {
		prefix = read.String()
	}
	a.StaticIPv6Prefix = personal.Of(prefix)
	var macs []string
	seen := map[string]bool{}
	for _, mac := range personal.RevealAll(a.MACAddresses) {
		if mac = NormalMAC(mac); !seen[mac] {
			seen[mac] = true
			macs = append(macs, mac)
		}
	}
	a.MACAddresses = personal.OfAll(macs)
	a.Routes = normalRoutes(a.Routes)
	return a
}

// normalRoutes writes routes as events have them, each once: a single address with its length.
func normalRoutes(routes []personal.Text) []personal.Text {
	var list []string
	for _, text := range personal.RevealAll(routes) {
		text = strings.TrimSpace(text)
		if address, err := netip.ParseAddr(text); err == nil && address.Is4() {
			text += "/32"
		}
		if route, err := netip.ParsePrefix(text); err == nil {
			text = route.String()
		}
		if text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return personal.OfAll(list)
}
