package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/messagegateway"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases/messaging"
)

// messageGateways has the gateway of each channel.
type messageGateways map[events.MessageChannel]messagingcases.Gateway

// openMessageGateways makes the gateways. In development a channel without an address is kept in the outbox. In
// production nothing can send it then: the program says so at its start, and each message is recorded as failed.
func (a *App) openMessageGateways(ctx context.Context) (messageGateways, error) {
	all := messageGateways{}
	mailer, err := a.mailer()
	if err != nil {
		return nil, err
	}
	texter, err := a.texter()
	if err != nil {
		return nil, err
	}
	if mailer != nil {
		all[events.ChannelEmail] = mailGateway{mailer}
	}
	if texter != nil {
		a.life.startedBeside("sms gateway client", stopStorage, func(context.Context) { texter.Close() })
		all[events.ChannelSMS] = smsGateway{texter}
	}
	whatsApp, err := a.whatsApp()
	if err != nil {
		return nil, err
	}
	if whatsApp != nil {
		a.life.startedBeside("whatsapp gateway client", stopStorage, func(context.Context) { whatsApp.Close() })
		all[events.ChannelWhatsApp] = whatsAppGateway{smsGateway{whatsApp}}
	}
	for _, channel := range events.Channels() {
		switch {
		case all[channel] != nil:
		case channel == events.ChannelWhatsApp && a.cfg.Production(): // a way beside the others
		case a.cfg.Production():
			a.logger.WarnContext(ctx, "messages cannot be sent and are recorded as failed: this program has no gateway",
				"channel", string(channel))
		default:
			all[channel] = keptMessages{a.storage.vault.Outbox}
		}
	}
	return all, nil
}

// gatewayConfig is shared by the gateways of messages.
func (a *App) gatewayConfig() messagegateway.Config {
	return messagegateway.Config{Guard: a.breakers, Clock: a.clock, Logger: a.logger}
}

// mailer is for SMTP_URL; nil without.
func (a *App) mailer() (*messagegateway.Mailer, error) {
	if a.cfg.SMTPURL == "" {
		return nil, nil
	}
	m, err := messagegateway.NewMailer(string(a.cfg.SMTPURL), a.cfg.mailSender(), a.gatewayConfig())
	if err != nil {
		return nil, fmt.Errorf("SMTP_URL: %w", err)
	}
	return m, nil
}

// mailSender is the address of the sender where SMTP_URL has none.
func (c Config) mailSender() string { return "no-reply@" + c.ServiceDomain }

// texter is for SMS_URL, and speaks as SMS_TEMPLATE says; nil without an address.
func (a *App) texter() (*messagegateway.Texter, error) {
	if a.cfg.SMSURL == "" {
		return nil, nil
	}
	if a.cfg.SMSTemplate == "" {
		t, err := messagegateway.NewTexter(string(a.cfg.SMSURL), a.gatewayConfig())
		if err != nil {
			return nil, fmt.Errorf("SMS_URL: %w", err)
		}
		return t, nil
	}
	file, err := os.ReadFile(a.cfg.SMSTemplate)
	if err != nil {
		return nil, fmt.Errorf("SMS_TEMPLATE: %w", err)
	}
	template, err := messagegateway.ReadTemplate(file)
	if err != nil {
		return nil, fmt.Errorf("SMS_TEMPLATE: %w", err)
	}
	t, err := messagegateway.NewTemplateTexter(string(a.cfg.SMSURL), template, a.gatewayConfig())
	if err != nil {
		return nil, fmt.Errorf("SMS_URL: %w", err)
	}
	return t, nil
}

// whatsApp is for WHATSAPP_URL; nil without.
func (a *App) whatsApp() (*messagegateway.Texter, error) {
	if a.cfg.WhatsAppURL == "" {
		return nil, nil
	}
	t, err := messagegateway.NewWhatsApp(string(a.cfg.WhatsAppURL), a.gatewayConfig())
	if err != nil {
		return nil, fmt.Errorf("WHATSAPP_URL: %w", err)
	}
	return t, nil
}

// keeps reports whether messages of some channel are kept for development to read.
func (all messageGateways) keeps() bool {
	for _, gateway := range all {
		if _, is := gateway.(keptMessages); is {
			return true
		}
	}
	return false
}

// mailGateway hands messages to the mail server.
type mailGateway struct{ *messagegateway.Mailer }

// Once is false: a mail server need not recognize a repeat.
func (mailGateway) Once() bool { return false }

// Send hands a message over.
func (g mailGateway) Send(ctx context.Context, m messagingcases.Outgoing) (messagingcases.Handed, error) {
	return messagingcases.Handed{}, outcome(g.Mailer.Send(ctx, messagegateway.Mail{
		ID: m.ID.String(), Sender: m.Sender, To: m.To, Subject: m.Subject, Text: m.Text, At: m.At,
	}))
}

// smsGateway hands messages to the SMS provider.
type smsGateway struct{ *messagegateway.Texter }

// Once is false: providers send what they are given, twice when they get it twice.
func (smsGateway) Once() bool { return false }

// Send hands a message over.
func (g smsGateway) Send(ctx context.Context, m messagingcases.Outgoing) (messagingcases.Handed, error) {
	taken, err := g.Texter.Send(ctx, messagegateway.SMS{ID: m.ID.String(), To: m.To, Text: m.Text})
	return messagingcases.Handed(taken), outcome(err)
}

// readReports reads what the provider reports about messages that have come to an end.
func (g smsGateway) readReports(body []byte) (list []commands.TakeMessageReport, err error) {
	read, err := g.ReadReports(body)
	for _, r := range read {
		if r.Outcome != messagegateway.OnItsWay {
			list = append(list, commands.TakeMessageReport{
				Reference: r.Reference, Delivered: r.Outcome == messagegateway.Delivered, Reason: r.Reason,
			})
		}
	}
	return list, err
}

// whatsAppGateway hands messages to WhatsApp, which reports about them as an SMS provider does.
type whatsAppGateway struct{ smsGateway }

// Send hands a message over: the name and the values of an approved text.
func (g whatsAppGateway) Send(ctx context.Context, m messagingcases.Outgoing) (messagingcases.Handed, error) {
	taken, err := g.Texter.Send(ctx, messagegateway.SMS{
		ID: m.ID.String(), To: m.To, Approved: messagegateway.Approved{
			Name: m.Approved.Name, Language: string(m.Approved.Language), Values: m.Approved.Values,
		},
	})
	return messagingcases.Handed(taken), outcome(err)
}

// outcome says in the words of the use cases how handing over has ended.
func outcome(err error) error {
	var refused *messagegateway.Refused
	switch {
	case errors.Is(err, messagegateway.ErrUnclear):
		return messagingcases.ErrUnclear
	case errors.As(err, &refused):
		return &messagingcases.Refusal{Code: refused.Code}
	}
	return err
}

// keptMessages is the gateway of development: it keeps messages instead of sending them.
type keptMessages struct{ outbox *vault.Outbox }

// Once is true: a message is kept under its id.
func (keptMessages) Once() bool { return true }

// Send keeps a message, once for each id.
func (g keptMessages) Send(ctx context.Context, m messagingcases.Outgoing) (messagingcases.Handed, error) {
	return messagingcases.Handed{}, g.outbox.Put(ctx, vault.OutboxMessage{
		ID: m.ID, Org: m.Org, Subscriber: m.Subscriber, At: m.At, Channel: string(m.Channel), To: m.To,
		Template: string(m.Template), Subject: m.Subject, Text: m.Text,
	})
}
