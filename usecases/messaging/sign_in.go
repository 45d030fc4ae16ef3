package messagingcases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/messaging"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/usecases"
)

// OfSignIn writes a message about a sign-in: at an organization's host in its words, and in the language of the
// customer; at the root host in ours. A text that an older program has taken and this one would not is ours, too.
func (u Settings) OfSignIn(ctx context.Context, w usecases.SignInText) (subject, text string, err error) {
	language, texts := usualLanguage, Templates{}
	if !w.Org.IsZero() {
		said, _, err := bus.LoadUnchecked[messaging.Settings](ctx, u.Bus, w.Org) // the id is the organization's own
		if err != nil {
			return "", "", err
		}
		if language, err = u.languageFor(ctx, said, w); err != nil {
			return "", "", err
		}
		texts = templatesOf(said, language)
	}
	subject, text, err = render(texts[w.Template], w.Channel, w.Words)
	if err != nil || text == "" || commands.CheckMessageTexts(w.Template, texts[w.Template]) != nil {
		return render(UsualTemplates(language)[w.Template], w.Channel, w.Words)
	}
	return subject, text, nil
}

// languageFor is that of the customer of a message, or of the organization's customers.
func (u Settings) languageFor(
	ctx context.Context, said messaging.Settings, w usecases.SignInText,
) (events.Language, error) {
	if w.Customer.IsZero() {
		return languageOf(said), nil
	}
	customer, _, err := bus.LoadOwned[subscribers.Subscriber](ctx, u.Bus, w.Org, w.Customer)
	if err == nil && customer.Details.Language.Known() {
		return customer.Details.Language, nil
	}
	return languageOf(said), err
}
