package subscriberscases

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// TestPersonOf_FindsNameAndPhoneInAComment as people keep them there.
func TestPersonOf_FindsNameAndPhoneInAComment(t *testing.T) {
	t.Parallel()
	type person struct{ first, last, phone string }
	for in, want := range map[[2]string]person{
		{"Amina Otieno 0712 345 678", "amina"}:         {"Amina", "Otieno", "+254712345678"},
		{"+254-712-345678 / Amina (house 4)", "amina"}: {"Amina", "house 4", "+254712345678"},
		{"254712345678", "amina"}:                      {"amina", "", "+254712345678"},
		{"", "0712345678"}:                             {"0712345678", "", "+254712345678"},
		{"", "amina"}:                                  {"amina", "", ""},
		{"ID 12345678 Brian", "b"}:                     {"ID", "12345678 Brian", ""},
		{"  Zoë\x00\ufffd\n Müller\u200b ", "z"}:       {"Zoë", "Müller", ""},
		{" - , ", "dash"}:                              {"dash", "", ""},
		{"=HYPERLINK(1) 0712345678", "f"}:              {"=HYPERLINK(1", "", "+254712345678"},
		{"محمد علي 0712345678", "m"}:                   {"محمد", "علي", "+254712345678"},
		{"two 0712345678 0799999999", "t"}:             {"two", "0799999999", "+254712345678"},
		{"Plot 12 0712 345 678, gate 4", "p"}:          {"Plot", "12 gate 4", "+254712345678"},
		{"+254712345678 12", "p"}:                      {"12", "", "+254712345678"},
		{"Ali +44 20 7946 0958", "a"}:                  {"Ali", "+44 20 7946 0958", ""},
		{"Ali +442079460958", "a"}:                     {"Ali", "", "+442079460958"},
	} {
		var got person
		if got.first, got.last, got.phone = personOf(in[0], in[1]); got != want {
			t.Errorf("%q: %+v, want %+v", in, got, want)
		}
	}
	first, last, _ := personOf(strings.Repeat("ä", 200)+" "+strings.Repeat("b ", 900), "x")
	if len(first) > 100 || len(last) > 100 || !utf8.ValidString(first) {
		t.Errorf("%d and %d bytes", len(first), len(last))
	}
}

// TestPlans_EachHasACodeOfItsOwn, whatever a profile is called, and finds the same plan of another router.
func TestPlans_EachHasACodeOfItsOwn(t *testing.T) {
	t.Parallel()
	row := func(code, kind string, down, up int64, archived bool) subscribersviews.PlanRow {
		return subscribersviews.PlanRow{
			ID: id.New[id.Plan](), Code: code, Archived: archived,
			Terms: events.PlanTerms{Kind: kind, Rates: events.Rates{Down: down, Up: up}},
		}
	}
	same := row("HOME", "pppoe", 10_000, 5_000, false)
	here := []subscribersviews.PlanRow{
		same, row("slow", "pppoe", 1, 1, false), row("old", "pppoe", 10_000, 5_000, true),
		row("both", "hotspot", 10_000, 5_000, false),
	}
	var of Proposal
	m := newProposalMaker(&of)
	profile := func(name string) routerplan.CustomerProfile {
		return routerplan.CustomerProfile{Name: name, Limit: "5M/10M"}
	}
	m.plans([]routerplan.CustomerProfile{
		{Name: "default", Standard: true}, {Name: "default-encryption", Standard: true},
		profile("home"), profile("Home"), profile("slow"), profile("old"), profile("both"),
		{Hotspot: true, Name: "both", Limit: "5M/10M"}, profile("../; drop"), profile("***"), profile("日本"),
		profile(strings.Repeat("long ", 50)), {Name: "free"},
	}, here)
	m.login(routerplan.CustomerLogin{Name: "a", Profile: "default", Service: "any"})
	m.login(routerplan.CustomerLogin{Name: "b", Profile: "default-encryption", Service: "l2tp"})
	m.count()
	var got []string
	for _, p := range of.Plans {
		text := p.Code
		if p.PlanID == same.ID {
			text += " here"
		} else if !p.PlanID.IsZero() {
			text += " other"
		}
		if p.Speed == (events.Speed{}) {
			text += " ?"
		}
		got = append(got, text)
		plan := commands.CreatePlan{PlanID: id.New[id.Plan](), Code: p.Code, Terms: events.PlanTerms{
			Name: p.Name, Kind: p.Kind, Mode: events.Prepaid, Period: "month", Rates: events.Rates{Down: 1, Up: 1},
		}}
		if err := plan.Validate(); err != nil {
			t.Errorf("%q: %v", p.Code, err)
		}
	}
	want := []string{
		"default ?", "home here", "Home-pppoe", "slow-pppoe", "old-pppoe", "both-pppoe", "both other", "drop", "plan",
		"plan-pppoe", "long-long-long-long-long-long", "free ?",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
}

// TestLogins_WhatIsNotTakenIsToldWithItsValue: networks behind a customer, and a name in an unknown encoding. The phone
// in such a comment is digits in every encoding.
func TestLogins_WhatIsNotTakenIsToldWithItsValue(t *testing.T) {
	t.Parallel()
	var of Proposal
	m := newProposalMaker(&of)
	m.plans([]routerplan.CustomerProfile{{Name: "home", Limit: "5M/10M"}}, nil)
	m.login(routerplan.CustomerLogin{
		Name: "school", Profile: "home", Password: " p ", Comment: "\xc8\xe2\xe0\xed 0711 000 100",
		Routes: []string{"10.20.0.0/24", "0.0.0.0/0"}, Prefix: "2001:db8::/33x",
	})
	want := []ProposalNote{
		{Name: "school", Code: NoteEncoding},
		{Name: "school", Code: NoteRoutes, Value: "10.20.0.0/24, 0.0.0.0/0"},
		{Name: "school", Code: NoteIPv6Prefix, Value: "2001:db8::/33x"},
	}
	if diff := cmp.Diff(want, of.Notes); diff != "" || of.NoteCount != 3 {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	if c := m.customers[0]; c.FirstName != "school" || c.Phone != "+254711000100" || c.Password != " p " {
		t.Errorf("%+v", c)
	}
}

// TestLogins_WhoIsNoCustomerIsToldAndLeftOut.
func TestLogins_WhoIsNoCustomerIsToldAndLeftOut(t *testing.T) {
	t.Parallel()
	var of Proposal
	m := newProposalMaker(&of)
	m.plans([]routerplan.CustomerProfile{{Name: "home", Limit: "5M/10M"}, {Hotspot: true, Name: "day"}}, nil)
	for _, l := range []routerplan.CustomerLogin{
		{Name: "off", Disabled: true, Profile: "home", Service: "pppoe"},
		{Name: "vpn", Profile: "home", Service: "l2tp"}, {Name: "sstp", Profile: "home", Service: "sstp"},
		{Name: "tab\tname", Profile: "home", Service: "any"}, {Name: "日\u200b本", Profile: "home"},
		{
			Name: "amina", Profile: "home", Service: "any", Password: "p", Address: "10.9.0.1",
			MAC: "AA:BB:CC:DD:EE:01",
		},
		{Name: "amina", Hotspot: true, Profile: "day", Password: "p"},
		{Name: "Amina", Profile: "home", Service: "pppoe", Password: "p"},
		{Name: "lost", Service: "pppoe", Address: "127.0.0.1", Caller: "eth1", Limited: true},
		{Name: "guest", Hotspot: true, Profile: "day", Password: "p"},
	} {
		m.login(l)
	}
	m.count()
	var told []string
	for _, n := range of.Notes {
		told = append(told, n.Name+" "+n.Code)
	}
	if diff := cmp.Diff([]string{
		"off disabled", "vpn other_service", "sstp other_service", "tab name bad_name", "日本 bad_name", "amina twice",
		"Amina alike", "lost no_plan", "lost no_password", "lost bad_address", "lost caller", "lost limited",
	}, told); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	if of.Customers != 4 || of.LeftOut != 6 || of.WithoutPassword != 1 || of.WithoutPhone != 4 ||
		of.Plans[0].Customers != 2 || of.Plans[1].Customers != 1 {
		t.Errorf("proposal %+v", of)
	}
	want := proposedCustomer{
		FirstName: "amina", PlanCode: "home", Username: "amina", Password: "p", StaticIP: "10.9.0.1",
		MAC: "AA:BB:CC:DD:EE:01",
	}
	if diff := cmp.Diff(want, m.customers[0]); diff != "" {
		t.Errorf("customer (-want +got):\n%s", diff)
	}
}

// TestNotes_AreToldUpToABound, and all are counted.
func TestNotes_AreToldUpToABound(t *testing.T) {
	t.Parallel()
	var of Proposal
	m := newProposalMaker(&of)
	for range maxProposalNotes + 7 {
		m.login(routerplan.CustomerLogin{Name: strings.Repeat("x", 5000), Disabled: true})
	}
	if len(of.Notes) != maxProposalNotes || of.NoteCount != maxProposalNotes+7 || len(of.Notes[0].Name) > longestShown {
		t.Errorf("%d notes of %d, the first with %d bytes", len(of.Notes), of.NoteCount, len(of.Notes[0].Name))
	}
}
