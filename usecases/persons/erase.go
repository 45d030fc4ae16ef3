package personscases

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// Eraser removes what is kept of forgotten persons beside log and read models. Every field is required. Safe for
// concurrent use.
type Eraser struct {
	Forgetting

	Vault *vault.Vault
	// Answer stands in the place of stored answers about the person.
	Answer vault.Answer
}

// Erase removes what the vault has of a forgotten customer, and at last destroys the keys: until then a repeat, after a
// crash, still knows the words to look for. A service that was made in the moment of forgetting is ended. meta is that
// of the job's outcome.
func (e Eraser) Erase(ctx context.Context, job commands.ErasePerson, meta commands.Meta) error {
	for _, model := range []string{
		paymentsviews.ReceiptsName, paymentsviews.PaymentsName, subscribersviews.SubscriptionsName,
		subscribersviews.TimelineName,
	} {
		if err := e.Views.WaitFor(ctx, model, job.Position); err != nil {
			return err
		}
	}
	found, err := e.find(ctx, job)
	if err != nil {
		return err
	}
	for _, service := range found.running {
		_, err := e.Bus.Execute(ctx, commands.EndSubscription{
			SubscriptionID: service, Reason: closing, Annulled: true,
		}, endMeta(meta, service))
		if err != nil {
			return err
		}
	}
	err = errors.Join(e.Vault.Outbox.Forget(ctx, job.SubscriberID), e.sweep(ctx, job.OrgID, found.traces, true))
	for _, secret := range found.secrets {
		err = errors.Join(err, e.Vault.Secrets.Delete(ctx, secret))
	}
	if err != nil {
		return err
	}
	for _, subject := range append(found.subjects, job.SubscriberID.UUID()) {
		if err := e.Vault.SubjectKeys.Destroy(ctx, subject); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes what names a person from the vault: in the rows of an organization by all that is known of the person,
// in those of no organization by what we or the provider have given, and codes of the root host by address. Nothing
// goes that another organization has.
func (e Eraser) sweep(ctx context.Context, org id.Organization, known traces, files bool) error {
	shared, err := e.unshared(ctx, org, known.addresses)
	if err != nil {
		return err
	}
	return errors.Join(
		e.Vault.Outbox.ForgetAddresses(ctx, org, slices.Collect(maps.Keys(known.addresses)),
			slices.Collect(maps.Keys(shared))),
		e.Vault.Sweep(ctx, vault.Traces{
			OrgID: org, Own: known.names, Shared: known.namesShared, Addresses: known.addresses,
			SharedAddresses: shared, Files: files, Answer: e.Answer,
		}),
	)
}

// SQL of the addresses that another organization has in use, or an administrator of the platform.
const (
	usedToSignInSQL = `
select email from {schema}.users where email <> '' and email = any($1) and home is distinct from $2::uuid
union select phone from {schema}.users where phone <> '' and phone = any($1) and home is distinct from $2::uuid`
	usedAsContactSQL = `
select distinct '+' || phone from {schema}.payers
where phone = any(select ltrim(a, '+') from unnest($1::text[]) a) and org_id is distinct from $2::uuid`
)

// unshared leaves the addresses out that are in use elsewhere: a person can be a customer of two organizations.
func (e Eraser) unshared(
	ctx context.Context, org id.Organization, addresses map[string]bool,
) (map[string]bool, error) {
	var used, called []string
	list := slices.Collect(maps.Keys(addresses))
	err := e.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &used, pgx.RowTo[string], e.Views.SQL(identityviews.UsersName, usedToSignInSQL), list, org)
		postgres.Collect(r, &called, pgx.RowTo[string], e.Views.SQL(paymentsviews.MatchingName, usedAsContactSQL), list,
			org)
	})
	free := maps.Clone(addresses)
	for _, address := range append(used, called...) {
		delete(free, address)
	}
	return free, err
}

// endMeta is the metadata of the command that ends a service: one of its own for each.
func endMeta(meta commands.Meta, service id.Subscription) commands.Meta {
	meta.CommandID = id.Derive[id.Command]("erase", meta.CommandID.String(), service.String())
	return meta
}

// findings have all that log and read models know about a person who is forgotten.
type findings struct {
	traces   traces
	secrets  []id.Secret       // passwords of services
	subjects []uuid.UUID       // of what is the person's and has a key of its own
	running  []id.Subscription // services that have not ended
}

// find collects them.
func (e Eraser) find(ctx context.Context, job commands.ErasePerson) (findings, error) {
	found := findings{traces: newTraces()}
	history, err := bus.HistoryUnchecked[subscribers.Subscriber](ctx, e.Bus, job.SubscriberID)
	if err != nil {
		return found, err
	}
	found.traces.id(job.SubscriberID)
	for _, of := range history {
		switch v := of.Event.(type) {
		case events.SubscriberRegistered:
			found.traces.words[strings.ToLower(v.AccountNumber)] = true // of any length: it is ours
			found.traces.details(v.Details)
		case events.SubscriberDetailsCorrected:
			found.traces.details(v.Details)
		}
	}
	services, err := e.services(ctx, job.OrgID, job.SubscriberID)
	if err != nil {
		return found, err
	}
	for _, service := range services {
		if service.State != subscribers.Ended {
			found.running = append(found.running, service.ID)
		}
		if err := e.findService(ctx, &found, service.ID); err != nil {
			return found, err
		}
	}
	return found, e.findMoney(ctx, &found, job)
}

// findService adds the names and the passwords that a service ever had.
func (e Eraser) findService(ctx context.Context, found *findings, service id.Subscription) error {
	found.traces.id(service)
	history, err := bus.HistoryUnchecked[subscribers.Subscription](ctx, e.Bus, service)
	if err != nil {
		return err
	}
	for _, of := range history {
		switch v := of.Event.(type) {
		case events.SubscriptionCreated:
			found.traces.add(v.Username)
			found.secrets = append(found.secrets, v.PasswordRef)
		case events.SubscriptionCredentialsSet:
			found.traces.add(v.Username)
			found.secrets = append(found.secrets, v.PasswordRef)
		case events.SubscriptionAddressesAssigned:
			found.traces.add(v.MACAddresses...)
		}
	}
	return nil
}

// SQL of what is the person's. Of the causes in the timeline those are left out that others can have as well: who signs
// in for several customers, a session whose router reported two, an act that a second person decided about.
const (
	ownReceiptsSQL = `
select receipt_id, receipt_number, provider, shortcode from {schema}.receipts where subscriber_id = $1`
	ownPromptsSQL = `
select coalesce(checkout_request_id, '') from {schema}.payments where subscriber_id = $1`
	ownThingsSQL = `
select distinct cause_id from {schema}.timeline where subscriber_id = $1 and cause_type in
	('subscription', 'invoice', 'credit_note', 'payment', 'message', 'support_request')`
)

// findMoney adds the receipts, whose payers have keys of their own, and the things of other kinds.
func (e Eraser) findMoney(ctx context.Context, found *findings, job commands.ErasePerson) error {
	return e.Views.Snapshot(ctx, job.OrgID, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, e.Views.SQL(paymentsviews.ReceiptsName, ownReceiptsSQL), job.SubscriberID)
		if err != nil {
			return err
		}
		var receipt id.Receipt
		var number, provider, shortcode string
		_, err = pgx.ForEachRow(rows, []any{&receipt, &number, &provider, &shortcode}, func() error {
			found.subjects = append(found.subjects, receipt.UUID())
			found.traces.id(receipt)
			if provider != commands.ProviderCash { // numbers of receipt books are not those of one person
				found.traces.receipt(number, shortcode)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return e.findThings(ctx, tx, found, job.SubscriberID)
	})
}

// findThings adds the ids of what else is the person's, and those that the provider gave to prompts.
func (e Eraser) findThings(ctx context.Context, tx pgx.Tx, found *findings, of id.Subscriber) error {
	rows, err := tx.Query(ctx, e.Views.SQL(paymentsviews.PaymentsName, ownPromptsSQL), of)
	if err != nil {
		return err
	}
	var checkout string
	_, err = pgx.ForEachRow(rows, []any{&checkout}, func() error {
		found.traces.checkout(checkout)
		return nil
	})
	if err != nil {
		return err
	}
	rows, err = tx.Query(ctx, e.Views.SQL(subscribersviews.TimelineName, ownThingsSQL), of)
	if err != nil {
		return err
	}
	var thing id.Any
	_, err = pgx.ForEachRow(rows, []any{&thing}, func() error {
		found.traces.id(thing)
		return nil
	})
	return err
}

// EraseUser does the same for a user who is forgotten.
func (e Eraser) EraseUser(ctx context.Context, user id.User) error {
	history, err := bus.HistoryUnchecked[identity.User](ctx, e.Bus, user)
	if err != nil {
		return err
	}
	known, home := newTraces(), id.Organization{}
	known.id(user)
	for _, of := range history {
		switch v := of.Event.(type) {
		case events.MembershipGranted:
			if home.IsZero() {
				home = v.OrgID
			}
		case events.UserRegistered:
			known.contact(v.Phone, v.Email)
		case events.LoginEmailChanged:
			known.contact(personal.Text{}, v.Email)
		case events.LoginPhoneChanged:
			known.contact(v.Phone, personal.Text{})
		}
	}
	wished, err := e.Vault.Codes.WishedAddress(ctx, user)
	if err != nil {
		return err
	}
	switch { // no event has it
	case wished == nil:
	case wished.Channel == string(events.ChannelEmail):
		known.contact(personal.Text{}, personal.Of(wished.Next))
	default:
		known.contact(personal.Of(wished.Next), personal.Text{})
	}
	if err := e.sweep(ctx, home, known, false); err != nil {
		return err
	}
	if err := e.Vault.ForgetUser(ctx, user); err != nil { // the wish is known until here
		return err
	}
	return e.Vault.SubjectKeys.Destroy(ctx, user.UUID())
}
