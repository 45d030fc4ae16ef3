package subscriberscases

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loginname"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// Why a user of a router is no customer.
const (
	NoteDisabled     = "disabled"      // it cannot sign in there either
	NoteOtherService = "other_service" // a secret for l2tp and the like: a tunnel, not a customer's line
	NoteBadName      = "bad_name"      // no customer may have such a name
	NoteTwice        = "twice"         // another user of the router has the same name
	NoteHereAlready  = "here_already"  // a customer has the name
)

// What of a user of a router is not taken, or has to be looked at.
const (
	NoteNoPlan     = "no_plan"     // its profile is one of a service here
	NoteNoPassword = "no_password" // one will be made
	NoteBadAddress = "bad_address" // no customer may have it for good
	NoteCaller     = "caller"      // a caller-id that is no MAC
	NoteLimited    = "limited"     // its time or its volume has a limit there
	NoteAlike      = "alike"       // another name differs in capitals alone
	NoteRoutes     = "routes"      // networks behind the customer
	NoteIPv6Prefix = "ipv6_prefix" // the prefix behind the customer
	NoteEncoding   = "encoding"    // a comment that is no UTF-8: nobody knows which letters it has
)

// ProposalNotes has the codes in the order in which the API describes them.
var ProposalNotes = []string{
	NoteDisabled, NoteOtherService, NoteBadName, NoteTwice, NoteHereAlready, NoteNoPlan, NoteNoPassword, NoteBadAddress,
	NoteCaller, NoteLimited, NoteAlike, NoteRoutes, NoteIPv6Prefix, NoteEncoding,
}

// ProposedPlan is a profile of the router as a plan. It lacks a price, and speeds where the router has no limit that a
// plan can have.
type ProposedPlan struct {
	Code      string       `json:"code"`
	Name      string       `json:"name"`
	Kind      string       `json:"kind"`    // "pppoe" or "hotspot"
	Profile   string       `json:"profile"` // its name on the router
	Limit     string       `json:"limit"`   // as the router has it
	Speed     events.Speed `json:"speed"`   // kbit/s; zero = not known
	Burst     events.Burst `json:"burst"`   // zero = none
	More      bool         `json:"more"`    // Limit has something that is not here
	Customers int          `json:"customers"`
	PlanID    id.Plan      `json:"planId,omitzero"` // of the plan that has the code; zero = it has to be made
}

// proposedCustomer is a user of the router as a customer. Its JSON is sealed in the vault; nothing else may keep it,
// since it has the password in the clear.
type proposedCustomer struct {
	FirstName string `json:"firstName"`
	LastName  string `json:"lastName,omitempty"`
	Phone     string `json:"phone,omitempty"`
	PlanCode  string `json:"planCode,omitempty"`
	Username  string `json:"username"`
	Hotspot   bool   `json:"hotspot,omitempty"`
	Password  string `json:"password,omitempty"`
	StaticIP  string `json:"staticIp,omitempty"`
	MAC       string `json:"mac,omitempty"`

	Prefix string   `json:"staticIpv6Prefix,omitempty"`
	Routes []string `json:"routes,omitempty"`
}

// proposalMaker collects a proposal. names are those of its customers, alike the same in small letters, and standard
// the codes of plans that are proposed when somebody has them.
type proposalMaker struct {
	of                     *Proposal
	customers              []proposedCustomer
	names, alike, standard map[string]bool
}

// newProposalMaker begins a proposal.
func newProposalMaker(of *Proposal) *proposalMaker {
	return &proposalMaker{of: of, names: map[string]bool{}, alike: map[string]bool{}, standard: map[string]bool{}}
}

// note tells something about a user.
func (m *proposalMaker) note(n ProposalNote) {
	m.of.NoteCount++
	if len(m.of.Notes) < maxProposalNotes {
		n.Name = cutTo(plainText(n.Name), longestShown)
		m.of.Notes = append(m.of.Notes, n)
	}
}

// leaveOut tells that a user does not become a customer.
func (m *proposalMaker) leaveOut(name string, hotspot bool, code string) {
	m.of.LeftOut++
	m.note(ProposalNote{Name: name, Hotspot: hotspot, Code: code, LeftOut: true})
}

// login makes a customer of a user, or tells why not.
func (m *proposalMaker) login(l routerplan.CustomerLogin) {
	switch {
	case l.Disabled:
		m.leaveOut(l.Name, l.Hotspot, NoteDisabled)
	case !l.Hotspot && !slices.Contains([]string{"", "any", "pppoe"}, l.Service):
		m.leaveOut(l.Name, l.Hotspot, NoteOtherService)
	case !commands.ValidUsername(l.Name):
		m.leaveOut(l.Name, l.Hotspot, NoteBadName)
	case m.names[loginname.Fold(l.Name)]:
		m.leaveOut(l.Name, l.Hotspot, NoteTwice)
	default:
		m.customers = append(m.customers, m.customer(l))
	}
}

// customer makes a customer of a user, and tells what of it is not taken.
func (m *proposalMaker) customer(l routerplan.CustomerLogin) proposedCustomer {
	c := proposedCustomer{Username: l.Name, Hotspot: l.Hotspot, Password: l.Password, MAC: l.MAC, StaticIP: l.Address}
	readable := !strings.ContainsRune(l.Comment, utf8.RuneError)
	if !readable {
		l.Comment = strings.Map(dialled, l.Comment)
	}
	c.FirstName, c.LastName, c.Phone = personOf(l.Comment, l.Name)
	small := strings.ToLower(l.Name)
	told := func(is bool, code string) {
		if is {
			m.note(ProposalNote{Name: l.Name, Hotspot: l.Hotspot, Code: code})
		}
	}
	told(m.alike[small], NoteAlike)
	m.names[loginname.Fold(l.Name)], m.alike[small] = true, true
	if at := slices.IndexFunc(m.of.Plans, func(p ProposedPlan) bool {
		return p.Profile == l.Profile && (p.Kind == kindHotspot) == l.Hotspot
	}); at >= 0 && l.Profile != "" {
		c.PlanCode = m.of.Plans[at].Code
	}
	told(c.PlanCode == "", NoteNoPlan)
	told(c.Password == "" && !m.of.Hidden, NoteNoPassword)
	if c.StaticIP != "" && !commands.ValidStaticIP(c.StaticIP) {
		c.StaticIP = ""
		told(true, NoteBadAddress)
	}
	told(l.Caller != "", NoteCaller)
	told(l.Limited, NoteLimited)
	told(!readable, NoteEncoding)
	behind := func(value, code string) {
		value = cutTo(plainText(value), longestShown)
		m.note(ProposalNote{Name: l.Name, Hotspot: l.Hotspot, Code: code, Value: value})
	}
	if c.Routes = l.Routes; !validNetworks(commands.ServiceAddresses{Routes: personal.OfAll(c.Routes)}) {
		c.Routes = nil
		behind(strings.Join(l.Routes, ", "), NoteRoutes)
	}
	if c.Prefix = l.Prefix; !validNetworks(commands.ServiceAddresses{StaticIPv6Prefix: personal.Of(c.Prefix)}) {
		c.Prefix = ""
		behind(l.Prefix, NoteIPv6Prefix)
	}
	return c
}

// validNetworks reports whether a customer may have a prefix and routes of a router.
func validNetworks(a commands.ServiceAddresses) bool {
	return commands.ValidAddresses(commands.NormalAddresses(a))
}

// dialled leaves only what phones are made of.
func dialled(r rune) rune {
	if strings.ContainsRune("+0123456789 -()", r) {
		return r
	}
	return -1
}

// count counts what the proposal has in the end, and takes out the profiles of each router that nobody has.
func (m *proposalMaker) count() {
	m.of.Customers = len(m.customers)
	has := map[string]int{}
	for _, c := range m.customers {
		has[c.PlanCode]++
		if c.Phone == "" {
			m.of.WithoutPhone++
		}
		if c.Password == "" {
			m.of.WithoutPassword++
		}
	}
	m.of.Plans = slices.DeleteFunc(m.of.Plans, func(p ProposedPlan) bool {
		return m.standard[p.Code] && has[p.Code] == 0
	})
	for i := range m.of.Plans {
		m.of.Plans[i].Customers = has[m.of.Plans[i].Code]
	}
}

// The kinds of plans.
const (
	kindPPPoE   = "pppoe"
	kindHotspot = "hotspot"
)

// plans makes plans of the profiles. One whose plan is here already, from another router with the same profile, is that
// plan.
func (m *proposalMaker) plans(profiles []routerplan.CustomerProfile, here []subscribersviews.PlanRow) {
	codes := map[string]subscribersviews.PlanRow{}
	for _, row := range here {
		codes[strings.ToLower(row.Code)] = row
	}
	for _, p := range profiles {
		plan := planOf(p)
		plan.give(codes)
		m.standard[plan.Code] = p.Standard
		m.of.Plans = append(m.of.Plans, plan)
	}
}

// planOf makes a plan of a profile, without its code.
func planOf(p routerplan.CustomerProfile) ProposedPlan {
	plan := ProposedPlan{
		Name: cutTo(cmp.Or(plainText(p.Name), "?"), longestShown), Kind: kindPPPoE, Profile: p.Name,
		Limit: cutTo(plainText(p.Limit), longestShown),
	}
	if p.Hotspot {
		plan.Kind = kindHotspot
	}
	limit, ok := routerplan.ParseRateLimit(p.Limit)
	if !ok {
		return plan
	}
	plan.Speed, plan.More = events.Speed{Down: limit.Down, Up: limit.Up}, limit.More
	if limit.Seconds > 0 {
		plan.Burst = events.Burst{
			Down: limit.BurstDown, Up: limit.BurstUp, ThresholdDown: limit.ThresholdDown,
			ThresholdUp: limit.ThresholdUp, Seconds: limit.Seconds,
		}
	}
	return plan
}

// give gives the plan a code that nobody has, made of the profile's name, or that of the same plan here. codes have the
// plans by their codes in small letters; a proposed one has no id.
func (p *ProposedPlan) give(codes map[string]subscribersviews.PlanRow) {
	begin := codeOf(p.Profile)
	for try := 0; ; try++ {
		p.Code = begin
		switch {
		case try == 1:
			p.Code += "-" + p.Kind
		case try > 1:
			p.Code += fmt.Sprintf("-%s-%d", p.Kind, try)
		}
		row, taken := codes[strings.ToLower(p.Code)]
		if !taken {
			codes[strings.ToLower(p.Code)] = subscribersviews.PlanRow{}
			return
		}
		rates := events.Speed{Down: row.Terms.Rates.Down, Up: row.Terms.Rates.Up}
		if !row.ID.IsZero() && !row.Archived && row.Terms.Kind == p.Kind &&
			(p.Speed == (events.Speed{}) || p.Speed == rates && p.Burst == row.Terms.Access.Burst) {
			p.PlanID = row.ID
			codes[strings.ToLower(p.Code)] = subscribersviews.PlanRow{}
			return
		}
	}
}

// notOfCode are the signs that a plan's code may not have.
var notOfCode = regexp.MustCompile(`[^A-Za-z0-9._]+`)

// codeOf makes the beginning of a plan's code: 30 signs, so that there is place for more behind it.
func codeOf(name string) string {
	code := strings.TrimLeft(notOfCode.ReplaceAllString(name, "-"), "-._")
	return strings.TrimRight(cmp.Or(code[:min(len(code), 30)], "plan"), "-")
}

// Lengths of texts of a router, in bytes.
const (
	longestShown = 100
	longestName  = 100
)

// digits finds the groups of digits of which a comment's phone number is made.
var digits = regexp.MustCompile(`\+?[0-9]+`)

// mostGroups is how many groups of digits a phone number has at most, as in +254 712 34 56 78.
const mostGroups = 6

// phoneIn finds the first phone number in a text, and where it stands; "" when there is none. Numbers of a house beside
// it are no part of it.
func phoneIn(text string) (phone string, from, to int) {
	groups := digits.FindAllStringIndex(text, -1)
	for i, first := range groups {
		for last := min(len(groups), i+mostGroups) - 1; last >= i; last-- {
			from, to = first[0], groups[last][1]
			given := text[from:to]
			if number := commands.NormalizeContactPhone(given); isPhone(number, given, last > i) {
				return number, from, to
			}
		}
	}
	return "", 0, 0
}

// isPhone reports whether a text of digits is a phone number. One in groups must be Kenyan, and begin as such: of
// others it is not known where they begin and end.
func isPhone(number, given string, grouped bool) bool {
	const kenyan, length = "+254", len("+254712345678")
	if strings.HasPrefix(number, kenyan) {
		begins := strings.HasPrefix(given, "0") || strings.HasPrefix(strings.TrimPrefix(given, "+"), "254")
		return len(number) == length && (begins || !grouped) && commands.ValidContactPhone(number)
	}
	return !grouped && commands.ValidContactPhone(number)
}

// personOf reads a name and a phone from the comment of a user, where people keep them: "Amina Otieno 0712 345 678".
// Without a name the user's own is one; it may be a phone number, too.
func personOf(comment, username string) (first, last, phone string) {
	text := plainText(comment)
	phone, from, to := phoneIn(text)
	if phone != "" {
		text = text[:from] + " " + text[to:]
	} else if own := commands.NormalizeContactPhone(username); isPhone(own, username, false) {
		phone = own
	}
	words := strings.Fields(text)
	for i, word := range words {
		words[i] = strings.Trim(word, ",;:|/()-_[]")
	}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	if len(words) == 0 {
		return cutTo(username, longestName), "", phone
	}
	return cutTo(words[0], longestName), cutTo(strings.Join(words[1:], " "), longestName), phone
}

// plainText leaves out of a router's text what nobody can read, and makes one line of it.
func plainText(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// cutTo cuts a text behind a whole character.
func cutTo(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return strings.TrimSpace(text[:most])
}
