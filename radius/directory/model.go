package directory

import (
	"net/netip"
	"slices"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius"
)

// Name is the name of the model in logs and on /readyz.
const Name = "access_directory"

// hotspotKind is the kind of plans whose devices may sign in by their MAC alone.
const hotspotKind = "hotspot"

// Name implements runner.MemoryModel. The model keeps no checkpoint: it is filled from the start of the log.
func (d *Directory) Name() string { return Name }

// Handles implements runner.MemoryModel.
func (d *Directory) Handles() []string {
	return append(usageEvents(),
		events.OrganizationCreated{}.EventType(), events.BillingSettingsAdopted{}.EventType(),
		events.SubscriptionCreated{}.EventType(), events.SubscriptionActivated{}.EventType(),
		events.PaidTimeCarriedOver{}.EventType(),
		events.SubscriptionExtended{}.EventType(), events.PeriodWithdrawn{}.EventType(),
		events.PeriodCancelled{}.EventType(), events.SubscriptionPaused{}.EventType(),
		events.SubscriptionResumed{}.EventType(), events.SubscriptionEnded{}.EventType(),
		events.SubscriptionCompensated{}.EventType(), events.SubscriptionPlanChanged{}.EventType(),
		events.CompensationTakenBack{}.EventType(),
		events.SubscriptionAddressesAssigned{}.EventType(), events.SubscriptionCredentialsSet{}.EventType(),
		events.SubscriberBlocked{}.EventType(), events.SubscriberUnblocked{}.EventType(),
		events.SubscriberForgotten{}.EventType(), events.DunningBegan{}.EventType(),
		events.WalledGardenEntered{}.EventType(), events.ServiceSuspended{}.EventType(),
		events.WriteOffProposed{}.EventType(), events.DunningEnded{}.EventType(),
		events.DunningReviewed{}.EventType(),
		events.DeviceRegistered{}.EventType(), events.DeviceDetailsCorrected{}.EventType(),
		events.DeviceCredentialsReplaced{}.EventType(), events.DeviceBootstrapReported{}.EventType(),
		events.DeviceSetupApplied{}.EventType(), events.DeviceDecommissioned{}.EventType(),
		events.VoucherBatchMade{}.EventType(), events.VouchersAdded{}.EventType(),
		events.VoucherRedeemed{}.EventType(), events.VoucherBeganEarlier{}.EventType(),
		events.VoucherMoved{}.EventType(), events.VoucherVoided{}.EventType(),
	)
}

// Apply implements runner.MemoryModel. The next sign-in meets what the event has changed.
func (d *Directory) Apply(e events.Envelope) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.actor = e.Meta.OrgID
	d.act = Act{e.ID, e.Position, e.Meta.At, e.Meta.Actor, e.Meta.CorrelationID}
	switch v := e.Event.(type) {
	case events.OrganizationCreated:
		d.settle(v.OrgID, v.Billing)
	case events.BillingSettingsAdopted:
		d.settle(v.OrgID, v.Billing)
	case events.SubscriberBlocked:
		d.customer(v.SubscriberID).block = &entitlement.Block{Since: e.Meta.At, EventID: e.ID}
		d.customerChanged(v.SubscriberID)
	case events.SubscriberUnblocked:
		d.customer(v.SubscriberID).block = nil
		d.customerChanged(v.SubscriberID)
	case events.SubscriberForgotten:
		customer := d.customer(v.SubscriberID)
		services := customer.services
		customer.services = nil // none needs to be found among very many to be removed
		for _, s := range services {
			d.remove(s)
		}
		delete(d.bySubscriber, v.SubscriberID)
		d.forget(v.SubscriberID)
	default:
		if v, ours := v.(events.VoucherVoided); ours {
			d.acted(id.As[id.Subscriber](v.VoucherID)) // sessions have it in the place of their subscriber
		}
		if !d.applyService(v) && !d.applyDunning(e) && !d.applyUsage(e) && !d.vouchers.apply(e) {
			d.applyRouter(v)
		}
	}
}

// applyService applies an event of a subscription's life; false for other events.
func (d *Directory) applyService(e events.Event) bool {
	switch v := e.(type) {
	case events.SubscriptionCreated:
		d.create(v)
	case events.SubscriptionActivated:
		d.change(v.SubscriptionID, func(s *service) { s.standing, s.since = entitlement.Active, v.At })
	case events.SubscriptionExtended:
		d.change(v.SubscriptionID, func(s *service) { s.paidUntil = v.PaidUntil })
	case events.PaidTimeCarriedOver:
		d.change(v.SubscriptionID, func(s *service) { s.paidUntil = v.PaidUntil })
	case events.PeriodWithdrawn:
		d.change(v.SubscriptionID, func(s *service) { s.paidUntil = v.PaidUntil })
	case events.PeriodCancelled:
		if v.Ordinal > 0 { // one that was recorded without tells no paid time
			d.change(v.SubscriptionID, func(s *service) { s.paidUntil = v.PaidUntil })
		}
	case events.SubscriptionPaused:
		d.change(v.SubscriptionID, func(s *service) { s.standing, s.since = entitlement.Paused, v.At })
	case events.SubscriptionResumed:
		d.change(v.SubscriptionID, func(s *service) {
			s.standing, s.since, s.paidUntil = entitlement.Active, v.At, v.PaidUntil
		})
	case events.SubscriptionCompensated:
		d.change(v.SubscriptionID, func(s *service) { s.paidUntil = v.PaidUntil })
	case events.SubscriptionPlanChanged:
		d.change(v.SubscriptionID, func(s *service) { s.terms = d.shared(v.PlanID, v.PlanVersion, v.Terms) })
	case events.CompensationTakenBack:
		d.change(v.SubscriptionID, func(s *service) { s.paidUntil = v.PaidUntil })
	case events.SubscriptionEnded:
		if s := d.services[v.SubscriptionID]; s != nil {
			d.remove(s)
		}
	case events.SubscriptionAddressesAssigned:
		d.change(v.SubscriptionID, func(s *service) { d.assign(s, v) })
	case events.SubscriptionCredentialsSet:
		d.change(v.SubscriptionID, func(s *service) { d.login(s, v.Username.Reveal(), v.PasswordRef) })
	default:
		return false
	}
	return true
}

// applyDunning applies an event of dunning; false for other events.
func (d *Directory) applyDunning(e events.Envelope) bool {
	v, ours := e.Event.(events.DunningEvent)
	if ours {
		d.change(events.SubjectOf(v).SubscriptionID, func(s *service) { s.dunning = s.dunning.After(v, e.ID) })
	}
	return ours
}

// settle applies the settings of an organization that sign-ins depend on.
func (d *Directory) settle(org id.Organization, settings events.BillingSettings) {
	d.inZone(org, settings.Timezone)
	if settings.StripRealm {
		d.realmless[org] = true
	} else {
		delete(d.realmless, org)
	}
}

// inZone notes the zone in which an organization's plans have their hours. A name that is unknown here is UTC; the
// organization could not have chosen it.
func (d *Directory) inZone(org id.Organization, name string) {
	zone := calendar.ZoneOrUTC(name)
	before := d.organizations[org]
	d.organizations[org] = zone
	if before == nil || before.String() == zone.String() {
		return
	}
	d.rezoned[org] = d.mark()
	for _, s := range d.services {
		s.decided.Store(nil)
	}
}

// create adds a subscription that was made.
func (d *Directory) create(v events.SubscriptionCreated) {
	if d.services[v.SubscriptionID] != nil {
		return
	}
	customer := d.customer(v.SubscriberID)
	s := &service{
		id: v.SubscriptionID, org: v.OrgID, owner: v.SubscriberID, subscriber: customer,
		terms:    d.shared(v.PlanID, v.PlanVersion, v.Terms),
		standing: entitlement.Pending, createdAt: v.CreatedAt, since: v.CreatedAt, startsAt: v.StartsAt,
		touched: d.mark(),
	}
	customer.services = append(customer.services, s)
	d.services[s.id] = s
	d.login(s, v.Username.Reveal(), v.PasswordRef)
}

// shared is one copy of the terms for all subscriptions of a version of a plan.
func (d *Directory) shared(plan id.Plan, number int, terms events.PlanTerms) *events.PlanTerms {
	key := version{plan, number}
	if known := d.terms[key]; known != nil && known.Equal(terms) {
		return known
	}
	d.terms[key] = &terms
	return &terms
}

// change edits a subscription and forgets its prepared answer. One that is not known has ended.
func (d *Directory) change(subscription id.Subscription, edit func(*service)) {
	if s := d.services[subscription]; s != nil {
		edit(s)
		d.acted(s.owner)
		s.touched = d.mark()
		s.decided.Store(nil)
		d.lead(s)
	}
}

// customer finds what the subscriptions of a customer share, and makes it when it is missing.
func (d *Directory) customer(who id.Subscriber) *subscriber {
	c := d.bySubscriber[who]
	if c == nil {
		c = &subscriber{}
		d.bySubscriber[who] = c
	}
	return c
}

// customerChanged forgets the prepared answers of a customer. Of very many subscriptions the latest lead to devices
// again: others wait meanwhile.
func (d *Directory) customerChanged(who id.Subscriber) {
	d.acted(who)
	services := d.customer(who).services
	for _, s := range services {
		s.touched = d.mark()
		s.decided.Store(nil)
	}
	for _, s := range services[max(len(services)-maxOfDevice, 0):] {
		d.lead(s)
	}
}

// remove ends everything that a subscription had. A credential that a sign-in has found already leads to a refusal.
func (d *Directory) remove(s *service) {
	d.acted(s.owner)
	d.login(s, "", id.Secret{})
	d.equip(s, nil)
	d.guests.part(s)
	delete(d.traces.given, s.id)
	s.standing = entitlement.Ended
	s.decided.Store(nil)
	delete(d.services, s.id)
	d.former[s.id] = former{org: s.org, owner: s.owner}
	s.subscriber.services = slices.DeleteFunc(s.subscriber.services, func(o *service) bool { return o == s })
}

// login gives a subscription another username and password. The password that it had counts until the vault has given
// the new one, when the username stays.
func (d *Directory) login(s *service, name string, ref id.Secret) {
	if !s.passwordRef.IsZero() && !ref.IsZero() && ref != s.passwordRef {
		s.renewed = d.mark()
	}
	if key := loginOf(s.org, s.username); d.byName[key] == s {
		delete(d.byName, key)
		if s.username != name {
			d.traces.name(s)
		}
	}
	if s.credential == nil || s.username != name {
		s.credential = &radius.Credential{Subject: s}
		s.passwordRef, s.proven = id.Secret{}, id.Secret{}
	}
	s.username = name
	if name == "" {
		return
	}
	d.byName[loginOf(s.org, name)] = s
	delete(d.traces.byName, loginOf(s.org, name))
	if ref == s.passwordRef || ref.IsZero() {
		return
	}
	s.passwordRef = ref
	d.secrets.want(ref, func(plain []byte) { d.unlock(s, ref, plain) })
}

// unlock gives a subscription the password that the vault has under a reference, unless another one is awaited since. A
// password that is no UTF-8 has no NT hash, and is not taken: a hash of zeros could be proven by anybody.
func (d *Directory) unlock(s *service, ref id.Secret, plain []byte) {
	hash, err := radius.NTHash(string(plain))
	if err != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.passwordRef == ref {
		s.credential, s.proven = &radius.Credential{Password: plain, NTHash: hash, Subject: s}, ref
		s.decided.Store(nil)
	}
}

// assign gives a subscription its addresses. One that cannot be read is left out: the command has checked it.
func (d *Directory) assign(s *service, v events.SubscriptionAddressesAssigned) {
	s.staticIP, _ = netip.ParseAddr(v.StaticIP.Reveal())
	s.staticIPv6, _ = netip.ParsePrefix(v.StaticIPv6Prefix.Reveal())
	var macs []radius.MAC
	for _, text := range personal.RevealAll(v.MACAddresses) {
		if mac, ok := radius.ParseMAC([]byte(text)); ok {
			macs = append(macs, mac)
		}
	}
	s.routes = nil
	for _, text := range personal.RevealAll(v.Routes) {
		if route, err := netip.ParsePrefix(text); err == nil {
			s.routes = append(s.routes, route)
		}
	}
	d.equip(s, macs)
}

// equip replaces the devices that may sign in. They lead to the subscription from lead on. One that is taken away has
// to prove the password again.
func (d *Directory) equip(s *service, macs []radius.MAC) {
	for _, mac := range s.macs {
		key := device{s.org, mac}
		d.byMAC[key] = slices.DeleteFunc(d.byMAC[key], func(o *service) bool { return o == s })
		if len(d.byMAC[key]) == 0 {
			delete(d.byMAC, key)
		}
		if s.byMAC != nil && !slices.Contains(macs, mac) {
			d.traces.mac(s, mac)
			d.guests.takenAway(key, s)
			s.parted = d.mark()
		}
	}
	s.macs, s.byMAC = macs, nil
	if s.terms.Kind != hotspotKind || len(macs) == 0 {
		return
	}
	s.byMAC = &radius.Credential{ByMAC: true, Subject: s}
}
