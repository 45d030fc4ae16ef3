package handset

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// The services by which customers connect.
const (
	PPPoE   = "pppoe"
	Hotspot = "hotspot"
)

// The ways to prove a password. A hotspot takes PAP and CHAP.
const (
	PAP      = "pap"
	CHAP     = "chap"
	MSCHAP   = "mschap"
	MSCHAPv2 = "mschapv2"
	// MACLogin is a hotspot that signs a device in by its MAC: the MAC is the name, with an empty password unless the
	// customer has one.
	MACLogin = "mac"
)

// Customer is a device that signs in. A voucher is a hotspot customer with the code as name and password.
type Customer struct {
	Service  string `json:"service"`  // PPPoE when empty
	Method   string `json:"method"`   // when empty MSCHAPv2 for PPPoE, CHAP for a hotspot
	Name     string `json:"name"`     // not for MACLogin
	Password string `json:"password"` // never shown in a list
	MAC      string `json:"mac"`      // as AA:BB:CC:DD:EE:FF; made up when empty
	// Server is the PPPoE service's or the hotspot server's name; empty for "service1" or "hotspot1".
	Server    string `json:"server"`
	Interface string `json:"interface"` // of the router; "ether2" when empty
	// Address is the device's own address in the hotspot's network; when empty, one of the pool.
	Address string `json:"address"`
	// Load is the share of the session's rate that the device uses, over 0 to 1; 0 counts as 1.
	Load float64 `json:"load"`
	Idle bool    `json:"idle"` // the device uses nothing
}

// filled checks a customer and fills what is empty, but for the MAC.
func (c Customer) filled() (Customer, error) {
	methods := []string{PAP, CHAP, MSCHAP, MSCHAPv2}
	server := "service1"
	switch c.Service {
	case "", PPPoE:
		c.Service = PPPoE
		fill(&c.Method, MSCHAPv2)
	case Hotspot:
		fill(&c.Method, CHAP)
		methods, server = []string{PAP, CHAP, MACLogin}, "hotspot1"
	default:
		return c, fmt.Errorf("service %q is neither pppoe nor hotspot", c.Service)
	}
	fill(&c.Server, server)
	fill(&c.Interface, "ether2")
	c.MAC = strings.ToUpper(c.MAC)
	if c.Address != "" {
		if a, err := netip.ParseAddr(c.Address); err != nil || !a.Is4() {
			return c, fmt.Errorf("address %q is no IPv4 address", c.Address)
		}
	}
	switch {
	case !slices.Contains(methods, c.Method):
		return c, fmt.Errorf("method %q: %s takes %s", c.Method, c.Service, strings.Join(methods, ", "))
	case c.Method != MACLogin && c.Name == "":
		return c, fmt.Errorf("a customer needs a name")
	case c.Load < 0 || c.Load > 1:
		return c, fmt.Errorf("load %v is not from 0 to 1", c.Load)
	}
	if c.Load == 0 {
		c.Load = 1
	}
	if c.Idle {
		c.Load = 0
	}
	return c, nil
}

// fill gives an empty text a value.
func fill(text *string, value string) {
	if *text == "" {
		*text = value
	}
}
