package subscribersapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// change corrects the fields that are given.
func (a Subscribers) change(ctx context.Context, c *httpapi.Call) error {
	subscriber, err := httpapi.PathID[id.Subscriber](c, "id", commands.ErrNoSubscriber)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[subscriberPatch](c)
	if err != nil {
		return err
	}
	if err := mayChange(c); err != nil {
		return err
	}
	correct := a.Cases.Correct
	if c.IsCustomer() {
		correct = a.Cases.Choose
	}
	done, err := correct(ctx, c.Asked(), in.correction(subscriber, c.Nulls()))
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), subscriber, done)
}

// correction is the patch in the form of the use case. A field given as null becomes empty, which the use case refuses
// for a required one.
func (p subscriberPatch) correction(subscriber id.Subscriber, nulls map[string]bool) subscriberscases.CorrectInput {
	text := func(name string, given *string) *personal.Text {
		if given = httpapi.Emptied(given, nulls[name]); given == nil {
			return nil
		}
		return new(personal.Of(*given))
	}
	in := subscriberscases.CorrectInput{
		SubscriberID: subscriber, FirstName: text("firstName", p.FirstName), LastName: text("lastName", p.LastName),
		Phone: text("phone", p.Phone), Email: text("email", p.Email), Address: text("address", p.Address),
		Notes: text("notes", p.Notes), Location: p.Location.event(), NoLocation: nulls["location"],
		ExternalRef: text("externalRef", p.ExternalRef), TaxPIN: text("taxPin", p.TaxPIN),
		Language: httpapi.Emptied(p.Language, nulls["language"]), OnlyNeeded: p.OnlyNeeded, WhatsApp: p.WhatsApp,
		SecondPhone: text("secondPhone", p.SecondPhone), MessageSecond: p.MessageSecond,
	}
	if p.Tags != nil {
		in.Tags = new(personal.OfAll(*p.Tags))
	}
	if p.Aliases != nil {
		in.AccountAliases = new(personal.OfAll(*p.Aliases))
	}
	if nulls["accountAliases"] {
		in.AccountAliases = new([]personal.Text{})
	}
	if nulls["tags"] {
		in.Tags = new([]personal.Text{})
	}
	return in
}
