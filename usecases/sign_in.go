package usecases

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// SignInText says which text of a message about a sign-in is to be written.
type SignInText struct {
	Org      id.Organization // in whose words; zero = the platform's
	Customer id.Subscriber   // in whose language; zero = the organization's
	Template events.MessageTemplate
	Channel  events.MessageChannel
	Words    map[string]string
}
