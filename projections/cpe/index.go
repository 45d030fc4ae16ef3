package cpeviews

import (
	"maps"
	"slices"
	"sync"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/acstag"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Told has what a CPE is told about itself when it calls. The zero value is that of one which nobody has.
type Told struct {
	OrgID        id.Organization // zero = pending
	OrgSlug      string
	SignIn       int  // counts passwords at the CPE server that are worth nothing
	SignInProven bool // it has shown the present one, and must from then on
	// Username and PlanCode are "", and PasswordRef zero, when the subscription has ended or does not exist, and
	// Username also when the person was forgotten.
	Username    string
	PasswordRef id.Secret
	PlanCode    string
}

// Prefixes of the tags at the CPE server. Source: docs/rules/cpe.md#tags.
const (
	TagOrganization = "org:"
	TagSubscriber   = "sub:"
	TagPlan         = "plan:"
)

// Tags are those that the CPE has at the CPE server: of its organization, and with a login those of login and plan.
func (t Told) Tags() []string {
	tags := []string{}
	if t.OrgID.IsZero() {
		return tags
	}
	for _, one := range []struct{ prefix, name string }{
		{TagOrganization, acstag.Name(t.OrgSlug)}, {TagSubscriber, acstag.Username(t.Username)},
		{TagPlan, acstag.Name(t.PlanCode)},
	} {
		if one.name != "" {
			tags = append(tags, one.prefix+one.name)
		}
	}
	return tags
}

// Index answers what the CPE server asks at each call of a CPE, and counts versions of the firmware. It is a model in
// memory, filled from the log at start. Safe for concurrent use.
type Index struct {
	mu       sync.RWMutex
	cpes     map[id.CPE]*indexCPE
	lines    map[id.Subscription]*indexLine
	owned    map[id.Subscriber][]id.Subscription // that have not ended
	plans    map[id.Plan]indexPlan
	slugs    map[id.Organization]string
	firmware map[id.Organization]map[string]int // CPEs by version
	left     map[id.Organization]bool           // for which nothing is answered
}

// indexCPE has whose a CPE is, and which login it uses.
type indexCPE struct {
	org          id.Organization
	subscriber   id.Subscriber
	subscription id.Subscription
	firmware     string
	signIn       int
	proven       bool
	unsure       bool // an event about it may be missing
}

// indexLine is the login of a subscription.
type indexLine struct {
	org        id.Organization
	subscriber id.Subscriber
	plan       id.Plan
	username   string
	password   id.Secret
}

// indexPlan is a plan with its code.
type indexPlan struct {
	org  id.Organization
	code string
}

// NewIndex makes an empty index; runner.Memory fills it.
func NewIndex() *Index {
	return &Index{
		cpes: map[id.CPE]*indexCPE{}, lines: map[id.Subscription]*indexLine{},
		owned: map[id.Subscriber][]id.Subscription{}, plans: map[id.Plan]indexPlan{},
		slugs: map[id.Organization]string{}, firmware: map[id.Organization]map[string]int{},
		left: map[id.Organization]bool{},
	}
}

// IndexName is the name of the index in logs and on /readyz.
const IndexName = "cpe_index"

// Name keys no checkpoint: the index is filled from the start of the log each time.
func (x *Index) Name() string { return IndexName }

// Handles lists the events that change the index: those of the table of CPEs, in which labels and places change
// nothing here.
func (x *Index) Handles() []string { return CPEs{}.Handles() }

// Leave answers no more for an organization, nor for CPEs that nobody has: what could not be read may be that one was
// claimed. Nor for those of them that another organization has later: how they came to it is not known.
func (x *Index) Leave(org id.Organization) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.left[org] = true
	for _, of := range x.cpes {
		of.unsure = of.unsure || x.doubts(of)
	}
}

// doubts reports whether what could not be read may be about a CPE as it is now. The caller holds the lock.
func (x *Index) doubts(of *indexCPE) bool {
	return x.left[of.org] || of.org.IsZero() && len(x.left) > 0
}

// Told gives what a CPE is told; false when the index cannot say, so that the log has to be asked.
func (x *Index) Told(cpe id.CPE) (Told, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	of := x.cpes[cpe]
	if of == nil || of.unsure || x.doubts(of) {
		return Told{}, false
	}
	told := Told{OrgID: of.org, OrgSlug: x.slugs[of.org], SignIn: of.signIn, SignInProven: of.proven}
	line := x.lines[of.subscription]
	if line == nil || line.org != of.org || line.subscriber != of.subscriber {
		return told, true
	}
	told.Username, told.PasswordRef = line.username, line.password
	if plan := x.plans[line.plan]; plan.org == line.org {
		told.PlanCode = plan.code
	}
	return told, true
}

// Firmware counts the CPEs of an organization by their version; "" = it is not known. False when the index cannot say.
func (x *Index) Firmware(org id.Organization) (map[string]int, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return maps.Clone(x.firmware[org]), !x.left[org]
}

// Apply changes the index by one event.
func (x *Index) Apply(e events.Envelope) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch v := e.Event.(type) {
	case events.CpeIdentified:
		if x.cpes[v.CpeID] == nil {
			x.cpes[v.CpeID] = &indexCPE{}
		}
	case events.CpeDetailsLearned:
		x.change(v.CpeID, func(of *indexCPE) { of.firmware = v.Details.FirmwareVersion })
	case events.CpeClaimed:
		x.claim(v)
	case events.CpeAssigned:
		x.claim(events.CpeClaimed(v))
	case events.CpeReleased:
		x.change(v.CpeID, func(of *indexCPE) { *of = indexCPE{firmware: of.firmware, signIn: of.signIn + 1} })
	case events.CpeSubscriberAssigned:
		x.change(v.CpeID, func(of *indexCPE) { of.subscriber, of.subscription = v.SubscriberID, v.SubscriptionID })
	case events.CpeSubscriberRemoved:
		x.change(v.CpeID, func(of *indexCPE) {
			of.subscriber, of.subscription = id.Subscriber{}, id.Subscription{}
		})
	case events.CpeSignInProven:
		x.change(v.CpeID, func(of *indexCPE) { of.proven = true })
	case events.CpeSignInEnded:
		x.change(v.CpeID, func(of *indexCPE) { of.signIn, of.proven = of.signIn+1, false })
	default:
		x.applyLine(e.Event)
	}
}

// claim applies a claim, and an assignment, which says the same.
func (x *Index) claim(v events.CpeClaimed) {
	x.change(v.CpeID, func(of *indexCPE) {
		of.org, of.subscriber, of.subscription = v.OrgID, v.SubscriberID, v.SubscriptionID
	})
}

// change changes a CPE and keeps the counts in step.
func (x *Index) change(cpe id.CPE, by func(of *indexCPE)) {
	of := x.cpes[cpe]
	if of == nil { // its first event could not be read
		of = &indexCPE{}
		x.cpes[cpe] = of
	}
	unsure := of.unsure || x.doubts(of)
	x.count(of, -1)
	by(of)
	of.unsure = unsure
	x.count(of, 1)
}

// count adds a CPE to those of its organization and version, or takes it away.
func (x *Index) count(of *indexCPE, n int) {
	if of.org.IsZero() {
		return
	}
	counts := x.firmware[of.org]
	if counts == nil {
		counts = map[string]int{}
		x.firmware[of.org] = counts
	}
	if counts[of.firmware] += n; counts[of.firmware] == 0 {
		delete(counts, of.firmware)
	}
}

// applyLine applies an event of a login, a plan or an organization.
func (x *Index) applyLine(e events.Event) {
	switch v := e.(type) {
	case events.SubscriptionCreated:
		x.lines[v.SubscriptionID] = &indexLine{
			org: v.OrgID, subscriber: v.SubscriberID, plan: v.PlanID, username: shown(v.Username),
			password: v.PasswordRef,
		}
		x.owned[v.SubscriberID] = append(x.owned[v.SubscriberID], v.SubscriptionID)
	case events.SubscriptionCredentialsSet:
		if line := x.lines[v.SubscriptionID]; line != nil {
			line.username, line.password = shown(v.Username), v.PasswordRef
		}
	case events.SubscriptionPlanChanged:
		if line := x.lines[v.SubscriptionID]; line != nil {
			line.plan = v.PlanID
		}
	case events.SubscriptionEnded:
		x.end(v.SubscriptionID)
	case events.SubscriberForgotten:
		for _, line := range x.owned[v.SubscriberID] {
			x.lines[line].username = ""
		}
	case events.PlanCreated:
		x.plans[v.PlanID] = indexPlan{v.OrgID, v.Code}
	case events.OrganizationCreated:
		x.slugs[v.OrgID] = v.Slug
	}
}

// end forgets the login of a subscription.
func (x *Index) end(of id.Subscription) {
	line := x.lines[of]
	if line == nil {
		return
	}
	delete(x.lines, of)
	left := slices.DeleteFunc(x.owned[line.subscriber], func(one id.Subscription) bool { return one == of })
	if x.owned[line.subscriber] = left; len(left) == 0 {
		delete(x.owned, line.subscriber)
	}
}

// shown is a text of a person; "" when the person was forgotten.
func shown(t personal.Text) string {
	if t.Erased() {
		return ""
	}
	return t.Reveal()
}
