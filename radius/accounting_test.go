package radius_test

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3162"

	"github.com/lastmile-isp/lastmile/radius"
)

// report makes an Accounting-Request about the session "81a00012".
func report(secret []byte, status rfc2866.AcctStatusType) *layeh.Packet {
	p := layeh.New(layeh.CodeAccountingRequest, secret)
	p.Add(rfc2866.AcctStatusType_Type, layeh.NewInteger(uint32(status)))
	p.Add(rfc2866.AcctSessionID_Type, layeh.Attribute("81a00012"))
	return p
}

func TestAccounting_ARecordHasAllThatTheRouterSent(t *testing.T) {
	t.Parallel()
	nas, sink := router(localhost), newLedger()
	k := start(t, &users{}, sink, radius.Limits{}, nas)
	p := report(secret, rfc2866.AcctStatusType_Value_Stop)
	for kind, value := range map[layeh.Type]string{
		rfc2865.UserName_Type: "amina", rfc2865.CallingStationID_Type: "A4:17:31:41:CB:B6",
		rfc2865.CalledStationID_Type: "home", rfc2869.NASPortID_Type: "vlan888",
		rfc2865.Class_Type: "\x00class", rfc2865.FramedIPAddress_Type: "\x0a\x00\x00\x07",
		rfc2865.ServiceType_Type: "\x00\x00\x00\x02", rfc2865.FramedProtocol_Type: "\x00\x00\x00\x01",
		rfc2865.NASPort_Type: "\x81\xa0\x00\x12", rfc2865.NASPortType_Type: "\x00\x00\x00\x0f",
		rfc2866.AcctInputOctets_Type: "\x00\x00\x00\x05", rfc2869.AcctInputGigawords_Type: "\x00\x00\x00\x02",
		rfc2866.AcctOutputOctets_Type: "\xff\xff\xff\xff", rfc2866.AcctSessionTime_Type: "\x00\x00\x0e\x10",
		rfc2866.AcctDelayTime_Type: "\x00\x00\x00\x03", rfc2866.AcctTerminateCause_Type: "\x00\x00\x00\x05",
		rfc2869.EventTimestamp_Type:      "\x69\xa5\x7b\x40",
		rfc3162.FramedIPv6Prefix_Type:    "\x00\x40\x20\x01\x0d\xb8\x00\x01\x00\x02",
		layeh.Type(123):                  "\x00\x38\x20\x01\x0d\xb8\x00\xff\x00",
		rfc2869.AcctOutputGigawords_Type: "\x00\x00\x00\x00",
		layeh.Type(168):                  "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x09",
	} {
		p.Add(kind, layeh.Attribute(value))
	}
	p.Add(rfc2865.ProxyState_Type, layeh.Attribute("one"))
	answer := dial(t, localhost, k.server.AccountingAddr()).ask(wire(t, p), secret)
	if answer.Code != layeh.CodeAccountingResponse || rfc2865.ProxyState_GetString(answer) != "one" {
		t.Errorf("answered %v", answer)
	}
	want := &radius.Record{
		NAS: nas, Source: netip.MustParseAddr("127.0.0.1"), Status: radius.StatusStop, SessionID: "81a00012",
		UserName:       "amina",
		CallingStation: "A4:17:31:41:CB:B6", CalledStation: "home", NASPortID: "vlan888",
		MAC: radius.MAC{0xa4, 0x17, 0x31, 0x41, 0xcb, 0xb6}, Service: radius.ServicePPPoE, NASPort: 0x81a00012,
		FramedIP: netip.MustParseAddr("10.0.0.7"), FramedPrefix: netip.MustParsePrefix("2001:db8:1:2::/64"),
		DelegatedPrefix: netip.MustParsePrefix("2001:db8:ff::/56"), Class: []byte("\x00class"),
		BytesIn: 2<<32 + 5, BytesOut: 1<<32 - 1, Gigawords: true, FramedIPv6: netip.MustParseAddr("2001:db8::9"),
		SessionTime: time.Hour, Delay: 3 * time.Second, TerminateCause: 5,
		EventAt: noon, At: noon,
	}
	opts := []cmp.Option{
		cmpopts.IgnoreUnexported(radius.Record{}), cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
		cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	}
	got := <-sink.records
	got.EventAt = got.EventAt.Truncate(24 * time.Hour).Add(12 * time.Hour)
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Error(diff)
	}
	if text := got.Status.String() + " " + got.MAC.String() + " " + got.Service.String(); text !=
		"stop A4:17:31:41:CB:B6 pppoe" {
		t.Errorf("as text: %s", text)
	}
}

func TestAccounting_OnlyADurableRecordIsAnswered(t *testing.T) {
	t.Parallel()
	nas, sink := router(localhost), newLedger()
	sink.manual = true
	k := start(t, &users{}, sink, radius.Limits{}, nas)
	l := dial(t, localhost, k.server.AccountingAddr())
	request := wire(t, numbered(report(secret, rfc2866.AcctStatusType_Value_Start), 1))
	l.silent(beacon(t, 2), request, request) // the repeat is swallowed
	first := <-sink.records
	first.Refuse()
	first.Acknowledge() // too late
	l.silent(beacon(t, 3), request)
	second := <-sink.records // the repeat after the refusal is a new try
	second.Acknowledge()
	second.Acknowledge()
	answer := l.receive()
	l.check(answer, request, secret)
	l.send(request)
	if again := l.receive(); string(again) != string(answer) {
		t.Errorf("repeat answered by %x, first by %x", again, answer)
	}
	if len(sink.records) != 0 {
		t.Error("a repeat reached the sink")
	}
	want := map[string]int{"taken": 2, "swallowed": 1, "refused": 1, "acknowledged": 1, "repeated": 1, "alive": 2}
	if diff := cmp.Diff(want, k.final("accounting")); diff != "" {
		t.Error(diff)
	}
}

func TestAccounting_PaddingIsNoPartOfTheRequest(t *testing.T) {
	t.Parallel()
	nas, sink := router(localhost), newLedger()
	k := start(t, &users{}, sink, radius.Limits{}, nas)
	request := wire(t, report(secret, rfc2866.AcctStatusType_Value_InterimUpdate))
	l := dial(t, localhost, k.server.AccountingAddr())
	l.send(append(append([]byte(nil), request...), 0, 0, 0, 9))
	l.check(l.receive(), request, secret)
	if r := <-sink.records; r.Status != radius.StatusInterim || r.SessionID != "81a00012" {
		t.Errorf("taken as %v %s", r.Status, r.SessionID)
	}
}

func TestAccounting_WhatTheRequestMustHave(t *testing.T) {
	t.Parallel()
	nas, sink := router(localhost), newLedger()
	k := start(t, &users{}, sink, radius.Limits{}, nas)
	l := dial(t, localhost, k.server.AccountingAddr())
	bare := layeh.New(layeh.CodeAccountingRequest, secret)
	start := numbered(layeh.New(layeh.CodeAccountingRequest, secret), bare.Identifier)
	start.Add(rfc2866.AcctStatusType_Type, layeh.NewInteger(1))
	bad := numbered(report(secret, 1), bare.Identifier)
	bad.Add(rfc2866.AcctSessionID_Type, layeh.Attribute("12345678")) // a second one
	changed := wire(t, numbered(report(secret, 2), bare.Identifier))
	binary.BigEndian.PutUint16(changed[4:], 0)
	l.silent(beacon(t, bare.Identifier+1), wire(t, bare), wire(t, start), wire(t, bad), changed)
	if got := k.results("accounting"); got["malformed"] != 3 || got["wrong_secret"] != 1 {
		t.Errorf("counted %v", got)
	}
	for status, want := range map[rfc2866.AcctStatusType]radius.Status{
		7: radius.StatusOn, 8: radius.StatusOff, 9: 0, // 9 is about tunnels, which we do not keep
	} {
		p := layeh.New(layeh.CodeAccountingRequest, secret)
		p.Add(rfc2866.AcctStatusType_Type, layeh.NewInteger(uint32(status)))
		l.ask(wire(t, p), secret)
		if want == 0 {
			if len(sink.records) > 0 {
				t.Error("a record about something else was kept")
			}
		} else if r := <-sink.records; r.Status != want {
			t.Errorf("status %d taken as %v", status, r.Status)
		}
	}
}

// TestAccounting_AnAttributeThatDoesNotMatterDropsNoReport: it is passed over and counted, the others are read.
func TestAccounting_AnAttributeThatDoesNotMatterDropsNoReport(t *testing.T) {
	t.Parallel()
	nas, sink := router(localhost), newLedger()
	k := start(t, &users{}, sink, radius.Limits{}, nas)
	p := report(secret, rfc2866.AcctStatusType_Value_InterimUpdate)
	for kind, value := range map[layeh.Type]string{
		rfc2865.NASPort_Type: "abc", rfc2865.FramedIPAddress_Type: "0123456789abcdef",
		rfc3162.FramedIPv6Prefix_Type: "\x00\xff", layeh.Type(123): "\x00", layeh.Type(168): "1234",
		rfc2869.EventTimestamp_Type: "1", rfc2866.AcctDelayTime_Type: "12345", rfc2866.AcctSessionTime_Type: "1",
		rfc2865.NASPortType_Type: "x", rfc2866.AcctTerminateCause_Type: "y",
		rfc2866.AcctInputOctets_Type: "\x00\x00\x00\x05", rfc2869.AcctInputGigawords_Type: "z",
		rfc2866.AcctOutputOctets_Type: "\x00\x00\x00\x07", rfc2865.CalledStationID_Type: "home",
	} {
		p.Add(kind, layeh.Attribute(value))
	}
	dial(t, localhost, k.server.AccountingAddr()).ask(wire(t, p), secret)
	r := <-sink.records
	if r.SessionID != "81a00012" || r.CalledStation != "home" || r.BytesIn != 0 || r.BytesOut != 7 ||
		r.FramedIP.IsValid() || r.FramedIPv6.IsValid() || r.FramedPrefix.IsValid() || r.DelegatedPrefix.IsValid() {
		t.Errorf("taken as %+v", r)
	}
	if got := k.results("accounting"); got["bad_attribute"] != 1 || got["taken"] != 1 {
		t.Errorf("counted %v", got)
	}
	if n := k.told()[radius.BadAttribute]; n.Count != 1 || n.NAS != nas {
		t.Errorf("told %+v", n)
	}
}

// TestAccounting_ZerosAreNoAddress, and neither are the values by which a router leaves the choice to somebody.
func TestAccounting_ZerosAreNoAddress(t *testing.T) {
	t.Parallel()
	nas, sink := router(localhost), newLedger()
	k := start(t, &users{}, sink, radius.Limits{}, nas)
	l := dial(t, localhost, k.server.AccountingAddr())
	for i, address := range []string{"\x00\x00\x00\x00", "\xff\xff\xff\xff", "\xff\xff\xff\xfe"} {
		p := numbered(report(secret, rfc2866.AcctStatusType_Value_InterimUpdate), byte(i))
		for kind, value := range map[layeh.Type]string{
			rfc2865.FramedIPAddress_Type: address, layeh.Type(168): strings.Repeat("\x00", 16),
			rfc3162.FramedIPv6Prefix_Type: "\x00\x40", layeh.Type(123): "\x00\x00",
			rfc2865.CallingStationID_Type: "00:00:00:00:00:00",
		} {
			p.Add(kind, layeh.Attribute(value))
		}
		l.ask(wire(t, p), secret)
		if r := <-sink.records; r.FramedIP.IsValid() || r.FramedIPv6.IsValid() || r.FramedPrefix.IsValid() ||
			r.DelegatedPrefix.IsValid() || r.MAC != (radius.MAC{}) {
			t.Errorf("%x is taken as %+v", address, r)
		}
	}
}

func TestAccounting_ASinkThatIsBehindIsNotFilledByOneRouter(t *testing.T) {
	t.Parallel()
	busy, calm, sink := router(localhost), router(neighbour), newLedger()
	sink.manual = true
	k := start(t, &users{}, sink, radius.Limits{Pending: 3}, busy, calm)
	l := dial(t, localhost, k.server.AccountingAddr())
	for i := range 5 {
		l.send(wire(t, numbered(report(secret, 3), byte(i))))
	}
	l.silent(beacon(t, 200))
	if len(sink.records) != 3 {
		t.Fatalf("%d records are in work, want 3", len(sink.records))
	}
	other := dial(t, neighbour, k.server.AccountingAddr())
	request := wire(t, report(secret, 3))
	other.send(request)
	for range 4 {
		(<-sink.records).Acknowledge()
	}
	other.check(other.receive(), request, secret)
	for range 3 {
		l.receive()
	}
	l.send(wire(t, numbered(report(secret, 3), 77)))
	(<-sink.records).Acknowledge()
	if n := k.told()[radius.TooMuchPending]; n.Count != 2 || n.NAS != busy {
		t.Errorf("told %+v", n)
	}
}
