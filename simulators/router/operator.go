package router

// Certify does what an operator does for encrypted services: it makes a certificate that signs itself, assigns it to
// www-ssl and api-ssl, and enables both.
func (r *Router) Certify() error {
	_, err := r.Script(`/certificate add name=operator common-name=router
/certificate sign operator
/ip service set www-ssl certificate=operator disabled=no
/ip service set api-ssl certificate=operator disabled=no
`)
	return err
}

// UseRADIUS does what an operator does so that customers are checked over RADIUS: a client for PPP and hotspots, and
// the switches in ppp/aaa and in all hotspot profiles. Later profiles need use-radius of their own.
func (r *Router) UseRADIUS() error {
	_, err := r.Script(`/radius add service=ppp,hotspot address=10.99.0.1 secret=operator timeout=3s
/ppp aaa set use-radius=yes accounting=yes
/ip hotspot profile set [find] use-radius=yes
`)
	return err
}
