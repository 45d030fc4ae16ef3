package radius_test

import (
	"net/netip"
	"strings"
	"testing"

	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"github.com/lastmile-isp/lastmile/radius"
)

// The attributes of captured requests, in their order (docs/facts/radius.md#captured-requests).
var (
	pppoe = []attribute{
		{rfc2865.ServiceType_Type, "\x00\x00\x00\x02"}, {rfc2865.FramedProtocol_Type, "\x00\x00\x00\x01"},
		{rfc2865.NASPort_Type, "\x81\xa0\x00\x12"}, {rfc2865.NASPortType_Type, "\x00\x00\x00\x0f"},
		{rfc2865.UserName_Type, "amina"}, {rfc2865.CallingStationID_Type, "A4:17:31:41:CB:B6"},
		{rfc2865.CalledStationID_Type, "home"}, {rfc2869.NASPortID_Type, "ether2"},
		{rfc2866.AcctSessionID_Type, "81a00012"},
	}
	tunnel = []attribute{
		{rfc2865.ServiceType_Type, "\x00\x00\x00\x02"}, {rfc2865.FramedProtocol_Type, "\x00\x00\x00\x01"},
		{rfc2865.NASPort_Type, "\x81\xa0\x00\x13"}, {rfc2865.NASPortType_Type, "\x00\x00\x00\x05"},
		{rfc2865.UserName_Type, "amina"}, {rfc2865.CallingStationID_Type, "192.0.2.7"},
		{rfc2865.CalledStationID_Type, "192.0.2.1"},
	}
	hotspot = []attribute{
		{rfc2865.NASPortType_Type, "\x00\x00\x00\x13"}, {rfc2865.CallingStationID_Type, "A4:17:31:41:CB:B6"},
		{rfc2865.CalledStationID_Type, "hotspot3"}, {rfc2869.NASPortID_Type, "vlan888"},
		{rfc2865.UserName_Type, "amina"}, {rfc2865.NASPort_Type, "\x80\x50\x00\x5a"},
		{rfc2866.AcctSessionID_Type, "8050005a"}, {rfc2865.FramedIPAddress_Type, "\x0a\x05\x00\x07"},
		{rfc2865.VendorSpecific_Type, "\x00\x00\x3a\x8c\x0a\x06\x0a\x05\x00\x08"},
		{rfc2865.ServiceType_Type, "\x00\x00\x00\x01"}, {rfc2865.NASIdentifier_Type, "MikroTik"},
	}
)

// attribute is one attribute of a captured request.
type attribute struct {
	kind  layeh.Type
	value string
}

// captured makes a request of captured attributes for a user.
func captured(code layeh.Code, list []attribute, name string) *layeh.Packet {
	p := layeh.New(code, secret)
	for _, a := range list {
		if a.kind == rfc2865.UserName_Type {
			a.value = name
		}
		p.Add(a.kind, layeh.Attribute(a.value))
	}
	return p
}

func TestService_IsToldApartAsRoutersSayIt(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	u := (&users{}).add(t, nas.Org, "amina", "pw").add(t, nas.Org, "a4-17-31-41-cb-b6", "x")
	k := start(t, u, newLedger(), radius.Limits{}, nas)
	l := dial(t, localhost, k.server.AccessAddr())
	for name, c := range map[string]struct {
		list     []attribute
		user     string
		service  radius.Service
		macLogin bool
	}{
		"PPPoE":           {pppoe, "amina", radius.ServicePPPoE, false},
		"PPPoE by MAC":    {pppoe, "a4-17-31-41-cb-b6", radius.ServicePPPoE, false},
		"SSTP":            {tunnel, "amina", radius.ServiceTunnel, false},
		"hotspot":         {hotspot, "amina", radius.ServiceHotspot, false},
		"hotspot by MAC":  {hotspot, "a4-17-31-41-cb-b6", radius.ServiceHotspot, true},
		"MAC of another":  {hotspot, "a4-17-31-41-cb-b7", radius.ServiceHotspot, false},
		"MAC and more":    {hotspot, "a4-17-31-41-cb-b6-00", radius.ServiceHotspot, false},
		"nothing is said": {[]attribute{{rfc2865.UserName_Type, ""}}, "amina", radius.ServiceUnknown, false},
	} {
		p := captured(layeh.CodeAccessRequest, c.list, c.user)
		proofs["CHAP"](t, p, "pw")
		l.ask(signed(t, p, secret), secret)
		q := u.last(t)
		if q.Request.Service != c.service || q.Request.MACLogin != c.macLogin || q.Request.Method != radius.MethodCHAP {
			t.Errorf("%s: %v, by MAC %v, %v", name, q.Request.Service, q.Request.MACLogin, q.Request.Method)
		}
	}
}

func TestService_ARequestShowsWhereItComesFrom(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	seen := make(chan string, 1)
	d := looker{func(r *radius.Request) {
		seen <- strings.Join([]string{
			string(r.UserName), string(r.CallingStation), string(r.CalledStation), string(r.NASPortID),
			string(r.NASIdentifier), string(r.SessionID), r.MAC.String(), r.FramedIP.String(), r.HostIP.String(),
		}, " ")
	}}
	k := start(t, &users{}, newLedger(), radius.Limits{}, nas)
	server, err := radius.New(radius.Config{
		AccessAddr: "127.0.0.1:0", AccountingAddr: "127.0.0.1:0", Directory: d, Accounting: k.ledger, Clock: k.clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	server.SetNAS([]*radius.NAS{nas})
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	p := captured(layeh.CodeAccessRequest, hotspot, "amina")
	answer := dial(t, localhost, server.AccessAddr()).ask(wire(t, p), secret)
	if rfc2865.ReplyMessage_GetString(answer) == "" {
		t.Error("a reply that the directory left alone has no message")
	}
	want := "amina A4:17:31:41:CB:B6 hotspot3 vlan888 MikroTik 8050005a A4:17:31:41:CB:B6 10.5.0.7 10.5.0.8"
	if got := <-seen; got != want {
		t.Errorf("seen %s, want %s", got, want)
	}
}

// looker is a directory that only looks at requests.
type looker struct{ look func(*radius.Request) }

// Find implements radius.Directory.
func (l looker) Find(_ *radius.NAS, r *radius.Request) *radius.Credential {
	l.look(r)
	return nil
}

// Decide implements radius.Directory and leaves the reply alone.
func (l looker) Decide(radius.Question, *radius.Reply) {}

func TestService_AccountingOfAHotspotIsKnownByItsHost(t *testing.T) {
	t.Parallel()
	nas, sink := router(localhost), newLedger()
	k := start(t, &users{}, sink, radius.Limits{}, nas)
	var list []attribute
	for _, a := range hotspot {
		if a.kind != rfc2865.ServiceType_Type { // routers leave it out
			list = append(list, a)
		}
	}
	p := captured(layeh.CodeAccountingRequest, append(list, attribute{rfc2866.AcctStatusType_Type, "\x00\x00\x00\x01"}),
		"amina")
	dial(t, localhost, k.server.AccountingAddr()).ask(wire(t, p), secret)
	r := <-sink.records
	if r.Service != radius.ServiceHotspot || r.HostIP != netip.MustParseAddr("10.5.0.8") || !r.EventAt.IsZero() {
		t.Errorf("taken as %v of %v at %v", r.Service, r.HostIP, r.EventAt)
	}
}

func TestMACLogin_NeedsNoPasswordButTheDevice(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	u := (&users{}).add(t, nas.Org, "a4-17-31-41-cb-b6", "x")
	u.known[nas.Org]["a4-17-31-41-cb-b6"] = &radius.Credential{ByMAC: true}
	u.known[nas.Org]["amina"] = &radius.Credential{ByMAC: true}
	k := start(t, u, newLedger(), radius.Limits{}, nas)
	l := dial(t, localhost, k.server.AccessAddr())
	for _, c := range []struct {
		list []attribute
		name string
		want layeh.Code
	}{
		{hotspot, "a4-17-31-41-cb-b6", layeh.CodeAccessAccept}, {hotspot, "amina", layeh.CodeAccessReject},
		{pppoe, "a4-17-31-41-cb-b6", layeh.CodeAccessReject},
	} {
		if answer := l.ask(wire(t, captured(layeh.CodeAccessRequest, c.list, c.name)), secret); answer.Code != c.want {
			t.Errorf("%s: %v, want %v", c.name, answer.Code, c.want)
		}
	}
}

func TestParseMAC_TakesAnyNotation(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a4:17:31:41:cb:b6": "A4:17:31:41:CB:B6", "A4-17-31-41-CB-B6": "A4:17:31:41:CB:B6",
		"a417.3141.cbb6": "A4:17:31:41:CB:B6", "A4173141CBB6": "A4:17:31:41:CB:B6", "": "", "192.0.2.7": "",
		"a4:17:31:41:cb:b": "", "a4:17:31:41:cb:b6:0": "", "g4:17:31:41:cb:b6": "", "00:00:00:00:00:00": "",
	} {
		if mac, ok := radius.ParseMAC([]byte(text)); mac.String() != want || ok != (want != "") {
			t.Errorf("%q read as %q, %v", text, mac, ok)
		}
	}
}

func TestAttributes_AreWrittenAsTheStandardsSay(t *testing.T) {
	t.Parallel()
	list := radius.Attributes{}.Octets(25, []byte{1}).Octets(25, nil).Text(88, "").Text(88, strings.Repeat("p", 300)).
		Number(27, 60).Address(8, netip.MustParseAddr("::ffff:10.0.0.7")).Address(8, netip.MustParseAddr("::1")).
		Prefix(97, netip.MustParsePrefix("2001:db8:1::/48")).Prefix(97, netip.MustParsePrefix("10.0.0.0/8")).
		MikroTik(8, "5M/10M").Vendor(311, 7, make([]byte, 300))
	want := "\x19\x03\x01" + "\x58\xff" + strings.Repeat("p", 253) + "\x1b\x06\x00\x00\x00\x3c" +
		"\x08\x06\x0a\x00\x00\x07" + "\x61\x0a\x00\x30\x20\x01\x0d\xb8\x00\x01" +
		"\x1a\x0e\x00\x00\x3a\x8c\x08\x085M/10M" + "\x1a\xff\x00\x00\x01\x37\x07\xf9" + strings.Repeat("\x00", 247)
	if string(list) != want {
		t.Errorf("written %q,\n   want %q", list, want)
	}
}
