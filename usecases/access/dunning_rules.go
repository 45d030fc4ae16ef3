package accesscases

import (
	"context"
	"sync"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// presentRules reads the rules of organizations from the log. Those who ask at the same time share one reading, which
// begins after each of them has asked: nobody gets rules that were replaced before. So a pass over many subscriptions
// reads the rules a few times instead of once for each. The zero value is ready. Safe for concurrent use.
type presentRules struct {
	lock    sync.Mutex
	readers map[id.Organization]*ruleReader
}

// ruleReader has the readings of one organization, one after the other.
type ruleReader struct {
	turn sync.Mutex   // held by the one who reads
	next *ruleReading // has not begun; nil = nobody waits for one
}

// ruleReading is one reading. Whoever holds the turn may use its fields.
type ruleReading struct {
	done  bool
	rules organizationRules
	err   error
}

// organizationRules are the rules of an organization for all its plans.
type organizationRules struct {
	policy  func(name string) events.DunningPolicy
	billing events.BillingSettings
}

// of gives the rules of an organization as they are after the call began. Fails: organization_not_found.
func (p *presentRules) of(ctx context.Context, b *bus.Bus, org id.Organization) (organizationRules, error) {
	reader, r := p.join(org)
	reader.turn.Lock()
	defer reader.turn.Unlock()
	if !r.done {
		p.begin(reader)
		r.rules, r.err = loadRules(context.WithoutCancel(ctx), b, org) // it is for others, too
		r.done = true
	}
	return r.rules, r.err
}

// join gives a reading that has not begun.
func (p *presentRules) join(org id.Organization) (*ruleReader, *ruleReading) {
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
	rules = rules.In(settings.Currency)
	return organizationRules{
		billing: billing,
		policy: func(name string) events.DunningPolicy {
			policy, _ := rules.Policy(name)
			return policy
		},
	}, nil
}
