package accesscases

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// presentRules reads the rules of organizations from the log. Those who ask at the same time share one reading, which
// begins after each of them has asked: nobody gets rules that were replaced before. Who asks because an instant has
// come also takes a reading of this moment. So a pass over many subscriptions reads the rules a few times instead of
// once for each. Only the clock must be set. Safe for concurrent use.
type presentRules struct {
	clock   clock.Clock
	lock    sync.Mutex
	readers map[id.Organization]*ruleReader
}

// thisMoment is how old a reading may be that is of this moment: what has changed meanwhile leads to further reviews.
const thisMoment = 200 * time.Millisecond

// ruleReader has the readings of one organization, one after the other.
type ruleReader struct {
	turn sync.Mutex   // held by the one who reads
	next *ruleReading // has not begun; nil = nobody waits for one
	last *ruleReading // has succeeded; nil = none yet
}

// ruleReading is one reading. Whoever holds the turn may use its fields.
type ruleReading struct {
	done  bool
	began time.Time
	rules organizationRules
	err   error
}

// organizationRules are the rules of an organization for all its plans.
type organizationRules struct {
	policy   func(name string) events.DunningPolicy
	zone     *time.Location
	holidays []calendar.Date
}

// fill adds the rules to a review.
func (r organizationRules) fill(c commands.ReviewDunning) commands.ReviewDunning {
	c.Rules = commands.DunningRules{Policy: r.policy(c.Policy), Zone: r.zone, Holidays: r.holidays}
	return c
}

// of gives the rules of an organization as they are after the call began, or with recent those of this moment. Fails:
// organization_not_found.
func (p *presentRules) of(
	ctx context.Context, b *bus.Bus, org id.Organization, recent bool,
) (organizationRules, error) {
	reader, r := p.join(org, recent)
	if reader == nil {
		return r.rules, nil
	}
	reader.turn.Lock()
	defer reader.turn.Unlock()
	if !r.done {
		p.begin(reader)
		r.began = p.clock.Now()
		r.rules, r.err = loadRules(context.WithoutCancel(ctx), b, org) // it is for others, too
		r.done = true
		p.end(reader, r)
	}
	return r.rules, r.err
}

// join gives a reading that has not begun, or with recent one of this moment, which has no reader any more.
func (p *presentRules) join(org id.Organization, recent bool) (*ruleReader, *ruleReading) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.readers == nil {
		p.readers = map[id.Organization]*ruleReader{}
	}
	reader := p.readers[org]
	if reader == nil {
		reader = &ruleReader{}
		p.readers[org] = reader
	}
	if last := reader.last; recent && last != nil {
		if age := p.clock.Now().Sub(last.began); age >= 0 && age < thisMoment {
			return nil, last
		}
	}
	if reader.next == nil {
		reader.next = &ruleReading{}
	}
	return reader, reader.next
}

// begin makes those who ask from now on wait for another reading.
func (p *presentRules) begin(reader *ruleReader) {
	p.lock.Lock()
	defer p.lock.Unlock()
	reader.next = nil
}

// end keeps a reading for those who ask in this moment.
func (p *presentRules) end(reader *ruleReader, r *ruleReading) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if r.err == nil {
		reader.last = r
	}
}

// loadRules reads the rules once.
func loadRules(ctx context.Context, b *bus.Bus, org id.Organization) (organizationRules, error) {
	rules, settings, err := DunningPolicies{Bus: b}.load(ctx, org)
	if err != nil {
		return organizationRules{}, err
	}
	billing, err := usecases.BillingSettings(ctx, b, org)
	if err != nil {
		return organizationRules{}, err
	}
	zone, err := calendar.Zone(billing.Timezone)
	if err != nil {
		return organizationRules{}, fmt.Errorf("zone of the dunning rules: %w", err)
	}
	rules = rules.In(settings.Currency)
	return organizationRules{
		zone: zone, holidays: billing.Holidays,
		policy: func(name string) events.DunningPolicy {
			policy, _ := rules.Policy(name)
			return policy
		},
	}, nil
}
