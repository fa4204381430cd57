package redact

import "strings"

// token hides the word from start whose characters after body satisfy in and are at least least many.
func (sc *scanner) token(start, body, least int, in func(byte) bool, kind string) int {
	s := sc.s
	if body > len(s) {
		return start
	}
	end := span(s, body, in)
	for end > body && (s[end-1] == '.' || s[end-1] == '-') { // a full stop or dash after the word
		end--
	}
	if end-body < least || sample(s[body:end]) {
		return body
	}
	return sc.hide(start, end, kind)
}

// fixedHex hides prefix and exactly n hex digits that stand alone.
func (sc *scanner) fixedHex(start, prefix, n int, kind string) int {
	s := sc.s
	end := start + prefix + n
	if end > len(s) || end < len(s) && isWord(s[end]) || !wordStart(s, start) || span(s[:end], start+prefix, isHex) < end {
		return start + 1
	}
	return sc.hide(start, end, kind)
}

// slugEnd is span(s, i, isSlug), remembered: a long run may hold many beginnings.
func (sc *scanner) slugEnd(i int) int {
	if i < sc.slugFrom || i >= sc.slugTo {
		sc.slugFrom, sc.slugTo = i, span(sc.s, i, isSlug)
	}
	return sc.slugTo
}

// prefixBefore returns the start of the short word that ends at i, without what belongs to an escape before it.
func prefixBefore(s string, i int) int {
	j := i
	for j > 0 && i-j < 10 && isAlnum(s[j-1]) {
		j--
	}
	if i-j == 10 {
		return i
	}
	switch {
	case j > 0 && s[j-1] == '\\' && j < i && (s[j] == 'n' || s[j] == 't' || s[j] == 'r'):
		if s[j:i] != "npm" {
			j++
		}
	case j > 0 && s[j-1] == '%' && i-j > 2 && isHex(s[j]) && isHex(s[j+1]):
		j += 2
	}
	return j
}

func (sc *scanner) underscore(i int) int {
	s := sc.s
	if i >= 3 && s[i-3] == 'g' && s[i-2] == 'h' && strings.IndexByte("pousr", s[i-1]) >= 0 {
		return sc.token(i-3, i+1, 20, isWord, "github-token")
	}
	j := prefixBefore(s, i)
	rest := s[i+1:]
	sub := func(second string, least int, in func(byte) bool, kind string) int {
		if !strings.HasPrefix(rest, second) {
			return i + 1
		}
		return sc.token(j, i+1+len(second), least, in, kind)
	}
	switch s[j:i] {
	case "github":
		return sub("pat_", 20, isWord, "github-token")
	case "sk", "rk":
		if strings.HasPrefix(rest, "live_") || strings.HasPrefix(rest, "test_") {
			return sc.token(j, i+6, 10, isAlnum, "stripe-key")
		}
	case "whsec":
		return sc.token(j, i+1, 20, isBase64, "stripe-key")
	case "npm":
		return sc.token(j, i+1, 30, isAlnum, "npm-token")
	case "hf":
		return sc.token(j, i+1, 30, isAlnum, "huggingface-token")
	case "dop", "doo", "dor":
		return sub("v1_", 40, isHex, "digitalocean-token")
	case "shpat", "shpca", "shppa", "shpss":
		return sc.token(j, i+1, 24, isHex, "shopify-token")
	case "lin":
		return max(sub("api_", 30, isAlnum, "linear-key"), sub("oauth_", 30, isAlnum, "linear-key"))
	case "dckr":
		return max(sub("pat_", 20, isSlug, "docker-token"), sub("oat_", 20, isSlug, "docker-token"))
	case "glsa", "glc":
		return sc.token(j, i+1, 32, func(c byte) bool { return isBase64(c) || c == '_' }, "grafana-token")
	case "sntrys", "sntryu":
		return sc.token(j, i+1, 40, func(c byte) bool { return isBase64(c) || c == '_' }, "sentry-token")
	case "pscale":
		for _, second := range [...]string{"tkn_", "pw_", "oauth_"} {
			if next := sub(second, 30, isDots, "planetscale-token"); next > i+1 {
				return next
			}
		}
	case "secret", "ntn":
		return sc.token(j, i+1, 43, isAlnum, "notion-token")
	case "sbp", "nfp", "gsk", "r8", "rubygems", "CCIPAT", "aio", "sqp", "squ", "bkua", "pnu", "rdme", "waka", "fm2", "cfut", "cfat", "cfk":
		return sc.token(j, i+1, 28, isAlnum, "api-key")
	case "sb":
		return sub("secret_", 20, isWord, "supabase-key")
	case "lsv2":
		return max(sub("pt_", 30, isWord, "api-key"), sub("sk_", 30, isWord, "api-key"))
	case "figd":
		return sc.token(j, i+1, 30, isSlug, "api-key")
	}
	return i + 1
}

// dashWord is the part of dash that knows key prefixes.
func (sc *scanner) dashWord(i int) int {
	s := sc.s
	j := prefixBefore(s, i)
	rest := s[i+1:]
	switch w := s[j:i]; w {
	case "sk":
		return sc.skKey(j, i)
	case "xoxb", "xoxp", "xoxa", "xoxr", "xoxs", "xoxo", "xoxe", "xoxc", "xoxd", "xapp", "xwfp":
		return sc.token(j, i+1, 10, func(c byte) bool { return isDots(c) || c == '%' }, "slack-token")
	case "glpat", "gldt", "glptt", "glrt", "glrtr", "glcbt", "glft", "glsoat", "glimt", "glagent", "gloas", "glffct", "glwt":
		return sc.token(j, i+1, 16, isDots, "gitlab-token")
	case "pypi":
		return sc.token(j, i+1, 32, isSlug, "pypi-token")
	case "GOCSPX":
		return sc.token(j, i+1, 20, isSlug, "google-secret")
	case "key":
		return sc.fixedHex(j, 4, 32, "mailgun-key")
	case "AGE":
		if strings.HasPrefix(rest, "SECRET-KEY-1") {
			return sc.token(j, i+13, 20, isAlnum, "age-key")
		}
	case "NRAK", "PMAK", "HRKU", "CFPAT", "pul", "pplx", "xai", "sq0atp", "sq0csp", "dnkey", "phx":
		if end := span(s, i+1, isSlug); mixed(s[i+1:end], true) {
			return sc.token(j, i+1, 20, isSlug, "api-key")
		}
	case "tskey":
		return sc.token(j, i+1, 20, isSlug, "tailscale-key")
	case "0":
		if i >= 4 && s[i-4:i] == "v1.0" {
			if end := span(s, i+1, isHex); end-i-1 == 24 {
				return sc.token(i-4, i+1, 60, isSlug, "cloudflare-key")
			}
		}
	}
	return i + 1
}

// skKey tells OpenAI's and Anthropic's keys from style classes that begin alike.
func (sc *scanner) skKey(j, i int) int {
	s := sc.s
	body := s[i+1 : min(sc.slugEnd(i+1), i+129)]
	for _, p := range [...]struct{ prefix, kind string }{
		{"ant-", "anthropic-key"}, {"proj-", "openai-key"}, {"svcacct-", "openai-key"}, {"admin-", "openai-key"},
		{"None-", "openai-key"}, {"or-v1-", "openrouter-key"}, {"lf-", "langfuse-key"},
	} {
		if strings.HasPrefix(body, p.prefix) && len(body) >= len(p.prefix)+16 && hasDigit(body) {
			return sc.token(j, i+1, 16, isSlug, p.kind)
		}
	}
	if !wordStart(s, j) || len(body) < 20 {
		return i + 1
	}
	for len(body) > 0 {
		n := span(body, 0, isAlnum)
		if n >= 16 && mixed(body[:n], false) {
			return sc.token(j, i+1, 20, isSlug, "openai-key")
		}
		body = body[min(n+1, len(body)):]
	}
	return i + 1
}

func (sc *scanner) dot(i int) int {
	s := sc.s
	if i == 0 || i+1 == len(s) || !isWord(s[i+1]) || !isSlug(s[i-1]) {
		return i + 1
	}
	rest := s[i+1:]
	j := prefixBefore(s, i)
	switch s[j:i] {
	case "SG":
		mid := span(s, i+1, isSlug)
		if mid-i-1 >= 16 && mid < len(s) && s[mid] == '.' {
			return sc.token(j, mid+1, 16, isSlug, "sendgrid-key")
		}
	case "ya29":
		return sc.token(j, i+1, 20, isDots, "google-token")
	case "hvs", "hvb", "hvr":
		return sc.token(j, i+1, 20, isSlug, "vault-token")
	case "dp":
		if k := span(rest, 0, isLower); k >= 2 && k <= 5 && k < len(rest) && rest[k] == '.' {
			return sc.token(j, i+k+2, 20, isDots, "doppler-token")
		}
	case "hooks":
		for _, p := range [...]string{"slack.com/services/", "slack.com/workflows/", "slack.com/triggers/"} {
			if strings.HasPrefix(rest, p) {
				return sc.token(i+1+len(p), i+1+len(p), 20, func(c byte) bool { return isSlug(c) || c == '/' }, "slack-webhook")
			}
		}
	case "discord", "discordapp":
		if p := "com/api/webhooks/"; strings.HasPrefix(rest, p) {
			return sc.token(i+1+len(p), i+1+len(p), 30, func(c byte) bool { return isSlug(c) || c == '/' }, "discord-webhook")
		}
	case "dt0c01":
		return sc.token(j, i+1, 40, isDots, "api-key")
	}
	if strings.HasPrefix(rest, "atlasv1.") {
		k := i
		for k > sc.done && isAlnum(s[k-1]) {
			k--
		}
		if i-k >= 10 {
			return sc.token(k, i+9, 40, isDots, "terraform-token")
		}
	}
	return sc.discord(i)
}

// discord knows a bot token by its three parts: the bot's number, a time, a signature.
func (sc *scanner) discord(i int) int {
	s := sc.s
	if i+36 > len(s) || s[i+7] != '.' && s[i+8] != '.' {
		return i + 1
	}
	mid := span(s, i+1, isSlug)
	if mid-i-1 < 6 || mid-i-1 > 7 || s[mid] != '.' {
		return i + 1
	}
	j := i
	for j > sc.done && i-j < 40 && isSlug(s[j-1]) {
		j--
	}
	end := span(s, mid+1, isSlug)
	if n := end - mid - 1; n < 27 || n > 45 || !mixed(s[mid+1:end], true) {
		return i + 1
	}
	// Text before the token may touch it through the letter of an escape (\n).
	for k := max(j, i-28); k <= i-23; k++ {
		if strings.IndexByte("MNO", s[k]) >= 0 && wordStart(s, k) {
			return sc.hide(k, end, "discord-token")
		}
	}
	return i + 1
}

func (sc *scanner) capitalA(i int) int {
	s := sc.s
	if i+20 > len(s) {
		return i + 1
	}
	switch s[i : i+4] {
	case "AKIA", "ASIA", "ABIA", "ACCA":
		end := i + 20
		if wordStart(s, i) && (end == len(s) || !isAlnum(s[end])) && span(s[:end], i, func(c byte) bool { return isUpper(c) || isDigit(c) }) == end {
			return sc.awsSecret(sc.hide(i, end, "aws-key"))
		}
	case "AIza":
		if wordStart(s, i) {
			return sc.token(i, i+4, 30, isSlug, "google-key")
		}
	case "ATAT", "ATCT":
		if s[i+4] == 'T' && s[i+5] == '3' && wordStart(s, i) {
			return sc.token(i, i+6, 20, func(c byte) bool { return isSlug(c) || c == '=' }, "atlassian-token")
		}
	case "ATBB":
		if wordStart(s, i) {
			return sc.token(i, i+4, 28, isAlnum, "atlassian-token")
		}
	case "AKCp":
		if wordStart(s, i) {
			return sc.token(i, i+4, 50, isAlnum, "jfrog-key")
		}
	}
	if s[i+1] == 'C' {
		return sc.fixedHex(i, 2, 32, "twilio-account")
	}
	return i + 1
}

// awsSecret hides the secret half of a pair written right after its id: "AKIA…,secret".
func (sc *scanner) awsSecret(i int) int {
	s := sc.s
	j := span(s, i, func(c byte) bool { return strings.IndexByte(" \t,:;|\"'", c) >= 0 })
	end := span(s, j, isBase64)
	if j > i && j-i < 8 && end-j == 40 && mixed(s[j:end], true) {
		return sc.hide(j, end, "aws-secret")
	}
	return i
}

// tilde knows the client secrets of Azure AD: three characters, a digit, Q~, 31 to 34 characters.
func (sc *scanner) tilde(i int) int {
	s := sc.s
	if i < 5 || s[i-1] != 'Q' || !isDigit(s[i-2]) {
		return i + 1
	}
	in := func(c byte) bool { return isDots(c) || c == '~' }
	if !in(s[i-3]) || !in(s[i-4]) || !in(s[i-5]) {
		return i + 1
	}
	return sc.token(i-5, i+1, 31, in, "azure-secret")
}

func (sc *scanner) jwt(j int) int {
	s := sc.s
	if !wordStart(s, j) {
		return j + 3
	}
	head := sc.slugEnd(j + 3)
	if head-j < 12 || head+4 >= len(s) || s[head] != '.' {
		return j + 3
	}
	body := span(s, head+1, isSlug)
	signed := body < len(s) && s[body] == '.'
	if body-head < 8 || !signed && !strings.HasPrefix(s[head+1:], "eyJ") {
		return j + 3
	}
	return sc.hide(j, span(s, body, isDots), "jwt")
}
