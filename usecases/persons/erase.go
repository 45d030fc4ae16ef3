package personscases

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/vault"
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
		paymentsviews.ReceiptsName, subscribersviews.SubscriptionsName, subscribersviews.TimelineName,
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
	err = errors.Join(
		e.Vault.Outbox.Forget(ctx, job.SubscriberID),
		e.Vault.Outbox.ForgetAddresses(ctx, slices.Collect(maps.Keys(found.traces.addresses))),
		e.Vault.Sweep(ctx, vault.Traces{Names: found.traces.names, OrgID: job.OrgID, Answer: e.Answer}),
	)
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
			found.traces.words[v.AccountNumber] = true
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

// SQL of what is the person's.
const (
	ownReceiptsSQL = `
select receipt_id, receipt_number, provider from {schema}.receipts where subscriber_id = $1`
	ownThingsSQL = `
select distinct cause_id from {schema}.timeline where subscriber_id = $1`
)

// findMoney adds the receipts, whose payers have keys of their own, and the things of other kinds.
func (e Eraser) findMoney(ctx context.Context, found *findings, job commands.ErasePerson) error {
	return e.Views.Snapshot(ctx, job.OrgID, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, e.Views.SQL(paymentsviews.ReceiptsName, ownReceiptsSQL), job.SubscriberID)
		if err != nil {
			return err
		}
		var receipt id.Receipt
		var number, provider string
		_, err = pgx.ForEachRow(rows, []any{&receipt, &number, &provider}, func() error {
			found.subjects = append(found.subjects, receipt.UUID())
			found.traces.id(receipt)
			if provider != commands.ProviderCash { // numbers of receipt books are not those of one person
				found.traces.add(personal.Of(number))
			}
			return nil
		})
		if err != nil {
			return err
		}
		rows, err = tx.Query(ctx, e.Views.SQL(subscribersviews.TimelineName, ownThingsSQL), job.SubscriberID)
		if err != nil {
			return err
		}
		var thing *id.Any
		_, err = pgx.ForEachRow(rows, []any{&thing}, func() error {
			if thing != nil {
				found.traces.id(*thing)
			}
			return nil
		})
		return err
	})
}

// EraseUser does the same for a user who is forgotten.
func (e Eraser) EraseUser(ctx context.Context, user id.User) error {
	history, err := bus.HistoryUnchecked[identity.User](ctx, e.Bus, user)
	if err != nil {
		return err
	}
	known := newTraces()
	known.id(user)
	for _, of := range history {
		switch v := of.Event.(type) {
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
	err = errors.Join(
		e.Vault.Outbox.ForgetAddresses(ctx, slices.Collect(maps.Keys(known.addresses))),
		e.Vault.Sweep(ctx, vault.Traces{Names: known.names, Answer: e.Answer}),
	)
	if err != nil {
		return err
	}
	if err := e.Vault.ForgetUser(ctx, user); err != nil { // the wish is known until here
		return err
	}
	return e.Vault.SubjectKeys.Destroy(ctx, user.UUID())
}
