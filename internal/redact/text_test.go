package redact

import (
	"strings"
	"testing"
)

// TestTextTakesOut plants secret in text in its place and wants it gone, and what stands round it kept.
func TestTextTakesOut(t *testing.T) {
	gh := "gh" + "p_" + alnum(36)
	pw := "hunter" + "2"
	jwt := "ey" + "J" + alnum(24) + ".ey" + "J" + alnum(40) + "." + alnum(43)
	tests := []struct{ name, before, secret, after, kind string }{
		{"github personal", "push with ", gh, " please", "github-token"},
		{"github oauth", "", "gh" + "o_" + alnum(36), "", "github-token"},
		{"github user", "", "gh" + "u_" + alnum(36), ",", "github-token"},
		{"github server", "", "gh" + "s_" + alnum(36), "", "github-token"},
		{"github refresh", "", "gh" + "r_" + alnum(70), "", "github-token"},
		{"github fine-grained", "(", "github" + "_pat_" + alnum(22) + "_" + alnum(59), ")", "github-token"},
		{"github inside a word", "abc", gh, "", "github-token"},
		{"github after an escape", `line\n`, gh, `\nline`, "github-token"},
		{"openai", "key is ", "sk" + "-" + alnum(48), "", "openai-key"},
		{"openai project", "", "sk" + "-proj-" + alnum(40) + "_" + alnum(20) + "-" + alnum(30), "", "openai-key"},
		{"openai service account", "", "sk" + "-svcacct-" + alnum(60), "", "openai-key"},
		{"anthropic", "use '", "sk" + "-ant-api03-" + alnum(80) + "-AA", "'", "anthropic-key"},
		{"openrouter", "", "sk" + "-or-v1-" + hexs(64), "", "openrouter-key"},
		{"aws id", "", "AK" + "IA" + upper(16), " ", "aws-key"},
		{"aws temporary id", "[", "AS" + "IA" + upper(16), "]", "aws-key"},
		{"aws secret after its id", "AK" + "IA" + upper(16) + ",", alnum(20) + "/" + alnum(18) + "+", "\n", "aws-secret"},
		{"google key", "?", "AI" + "za" + alnum(35), "&x=1", "google-key"},
		{"google client secret", "", "GOC" + "SPX-" + alnum(28), "", "google-secret"},
		{"google access", "", "ya" + "29." + alnum(60), "", "google-token"},
		{"slack bot", "", "xo" + "xb-1234567890-1234567890123-" + alnum(24), "", "slack-token"},
		{"slack user", "", "xo" + "xp-123456789-" + alnum(32), "", "slack-token"},
		{"slack app", "", "xa" + "pp-1-A0123-" + alnum(40), "", "slack-token"},
		{"slack webhook", "https://hooks.slack" + ".com/services/", "T0123ABCD/B0123ABCD/" + alnum(24), " ok", "slack-webhook"},
		{"discord webhook", "https://discord.com" + "/api/webhooks/", "123456789012345678/" + alnum(68), "", "discord-webhook"},
		{"stripe live", "", "sk" + "_live_" + alnum(24), "", "stripe-key"},
		{"stripe test", "", "sk" + "_test_" + alnum(24), "", "stripe-key"},
		{"stripe restricted", "", "rk" + "_live_" + alnum(24), "", "stripe-key"},
		{"stripe webhook", "", "wh" + "sec_" + alnum(32), "", "stripe-key"},
		{"npm", "", "np" + "m_" + alnum(36), "", "npm-token"},
		{"pypi", "", "py" + "pi-AgEIcHlwaS5vcmc" + alnum(80), "", "pypi-token"},
		{"gitlab", "", "gl" + "pat-" + alnum(20), "", "gitlab-token"},
		{"gitlab runner", "", "gl" + "rt-" + alnum(20), "", "gitlab-token"},
		{"gitlab deploy", "", "gl" + "dt-" + alnum(20), "", "gitlab-token"},
		{"azure storage", "DefaultEndpointsProtocol=https;AccountName=x;Account" + "Key=", alnum(86) + "==", ";EndpointSuffix=core.windows.net", "api-key"},
		{"azure service bus", "Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccess" + "Key=", alnum(43) + "=", "", "api-key"},
		{"azure signature", "https://x.blob.core.windows.net/c?sv=2022&si" + "g=", alnum(40) + "%3D", "&se=2030", "credential"},
		{"azure client secret", "", alnum(3) + "8Q~" + alnum(34), "", "azure-secret"},
		{"twilio key", "", "S" + "K" + hexs(32), "", "twilio-key"},
		{"twilio account", "", "A" + "C" + hexs(32), "", "twilio-account"},
		{"sendgrid", "", "S" + "G." + alnum(22) + "." + alnum(43), "", "sendgrid-key"},
		{"digitalocean", "", "do" + "p_v1_" + hexs(64), "", "digitalocean-token"},
		{"hugging face", "", "h" + "f_" + alnum(34), "", "huggingface-token"},
		{"telegram", "bot", "123456789:" + "AA" + alnum(33), "", ""},
		{"telegram alone", " ", "1234567890:" + "AA" + alnum(33), " ", "telegram-token"},
		{"discord bot", "login(\"", "MT" + alnum(22) + ".GabcDE." + alnum(38), "\")", "discord-token"},
		{"databricks", "", "da" + "pi" + hexs(32), "", "databricks-token"},
		{"shopify", "", "sh" + "pat_" + hexs(32), "", "shopify-token"},
		{"mailgun", "", "ke" + "y-" + hexs(32), "", "mailgun-key"},
		{"atlassian", "", "ATA" + "TT3xFfGF0" + alnum(60) + "=1A2B3C4D", "", "atlassian-token"},
		{"linear", "", "lin" + "_api_" + alnum(40), "", "linear-key"},
		{"vault", "", "hv" + "s." + alnum(24), "", "vault-token"},
		{"doppler", "", "dp" + ".pt." + alnum(43), "", "doppler-token"},
		{"age", "", "AGE-SECRET" + "-KEY-1" + upper(58), "", "age-key"},
		{"cloudflare origin", "", "v1.0" + "-" + hexs(24) + "-" + hexs(146), "", "cloudflare-key"},
		{"grafana", "", "gl" + "sa_" + alnum(32) + "_" + hexs(8), "", "grafana-token"},
		{"docker", "", "dc" + "kr_pat_" + alnum(27), "", "docker-token"},
		{"new relic", "", "NR" + "AK-" + upper(27), "", "api-key"},
		{"groq", "", "gs" + "k_" + alnum(52), "", "api-key"},
		{"tailscale", "", "ts" + "key-auth-" + alnum(30), "", "tailscale-key"},
		{"terraform", "", alnum(14) + ".atlas" + "v1." + alnum(60), "", "terraform-token"},
		{"jwt", "got ", jwt, " back", "jwt"},
		{"jwt cut short", "", "ey" + "J" + alnum(24) + ".ey" + "J" + alnum(40), "", "jwt"},

		{"bearer", "Authorization: Bearer ", alnum(40), "\r\nAccept: */*", "authorization"},
		{"bearer in code", `-H "x: bearer `, alnum(20), `"`, "bearer-token"},
		{"basic", "send Basic ", "dXNlcjpwYXNzd29yZA==", " now", "basic-auth"},
		{"basic header", "authorization: basic ", alnum(24), "\n", "authorization"},
		{"token header", "Authorization: token ", alnum(40), "\n", "authorization"},
		{"digest of aws", "Authorization: AWS4-HMAC-SHA256 ", "Credential=x/20240101, Signature=" + hexs(64), "\n", "authorization"},
		{"cookie header", "Cookie: ", "session=abc123; theme=dark", "\nAccept: x", "cookie"},
		{"set-cookie header", "< Set-Cookie: ", "sid=s%3Aabcdef; Path=/; HttpOnly", "\r\n<", "cookie"},
		{"api key header", `curl -H "X-API-Key: `, alnum(24), `" http://x`, "api-key"},
		{"url password", "postgres://app:", pw, "@db.example.com:5432/app", "url-password"},
		{"url without user", "redis://:", "p4ss", "@localhost:6379/0", "url-password"},
		{"url password with signs", "mysql://root:", "p@ss:w0rd/x", "@host/db", "url-password"},
		{"url with a token as user", "https://", alnum(40), "@git.example.com/a/b", "url-password"},

		{"env file", "HOST=localhost\nDB_PASSWORD=", pw, "\nPORT=1", "password"},
		{"env word password", "DB_PASSWORD=", "correcthorse", "", "password"},
		{"export", "export API_KEY=", alnum(20), "\n", "api-key"},
		{"export quoted", `export SECRET_TOKEN="`, alnum(20), `"`, "token"},
		{"aws secret", "aws_secret_access_key = ", alnum(20) + "/" + alnum(19), "\n", "api-key"},
		{"aws secret env", "AWS_SECRET_ACCESS_KEY=", alnum(20) + "/" + alnum(19), " aws s3 ls", "api-key"},
		{"inline env", "PGPASSWORD=", "letmein", " psql -h db", "password"},
		{"docker -e", "docker run -e MYSQL_ROOT_PASSWORD=", "rootpw", " mysql", "password"},
		{"powershell", `$env:API_TOKEN = "`, alnum(20), `"`, "token"},
		{"windows set", "set CLIENT_SECRET=", "abc123def", "\r\n", "secret"},
		{"password with signs", "PASSWORD=", "a&b;c)d,e", "\nX=1", "password"},
		{"yaml", "db:\n  password: ", pw, "\n  host: x", "password"},
		{"yaml quoted", "password: '", "correct", "'", "password"},
		{"yaml token", "api_token: ", alnum(32), "\n", "token"},
		{"json in text", `{"user":"a","password":"`, "opensesame", `",`, "password"},
		{"json in text escaped", `{\"apiKey\":\"`, alnum(20), `\"} trailing`, "api-key"},
		{"json in text escaped twice", `x \\\"password\\\": \\\"`, "hello99", `\\\" y`, "password"},
		{"go field", "Config{Password: \"", "opensesame", "\"}", "password"},
		{"go var", `const apiKey = "`, alnum(24), `"`, "api-key"},
		{"go typed var", `var password string = "`, "opensesame", `"`, "password"},
		{"typescript", `const dbPassword: string = '`, "opensesame", `';`, "password"},
		{"python", "client_secret = '", alnum(24), "'", "secret"},
		{"python bytes", "SECRET_KEY = b'", alnum(24), "'", "api-key"},
		{"python keyword", `connect(user="x", password="`, "opensesame", `")`, "password"},
		{"javascript index", `headers["x-api-key"] = "`, alnum(24), `"`, "api-key"},
		{"ruby", ":password => '", "opensesame", "'", "password"},
		{"comparison", `if password == "`, "opensesame", `" {`, "password"},
		{"bytes", `secret := []byte("`, alnum(16), `")`, "secret"},
		{"ini", "password = ", pw, "\nuser = x", "password"},
		{"connection string", "Server=x;User Id=sa;Password=", "P4ssw0rd!", ";Encrypt=true", "password"},
		{"query", "GET /v1?access_token=", alnum(20), "&page=2", "token"},
		{"uuid as key", "HEROKU_API_KEY=", "01234567-89ab-cdef-0123-456789abcdef", "\n", "api-key"},
		{"npmrc", "//npm.example.org/:_authToken=", alnum(36), "\n", "token"},
		{"npmrc auth", "_auth=", "dXNlcjpwYXNzd29yZDEyMw==", "\n", "credential"},
		{"xml", "<server><password>", "opensesame", "</password>", "password"},
		{"quote cut short", `"password": "`, "opensesa", "", "password"},

		{"quotes of different depth", `\\\"password\\\": \\\"`, "opensesame", `\" x`, "password"},

		{"flag", "login --password ", pw, " --verbose", "password"},
		{"flag word", "login --password ", "correcthorse", "", "password"},
		{"flag equals", "tool --api-key=", alnum(20), " run", "api-key"},
		{"flag token", "gh auth --token ", alnum(20), "\n", "token"},
		{"flag quoted", "x --client-secret '", "p4ssw0rd", "' y", "secret"},
		{"single dash", "Connect -Password ", "P4ssw0rd", " -Force", "password"},
		{"curl", "curl -s -u ann:", pw, " https://x", "password"},
		{"curl glued", "curl -uann:", pw, " https://x", "password"},
		{"curl user", `curl --user "ann:`, pw, `" https://x`, "password"},
		{"sshpass", "sshpass -p '", "letmein", "' ssh x", "password"},

		{"private", "a ", "<private>my salary</private>", " b", "private"},
		{"private upper", "a ", "<PRIVATE>x</Private >", " b", "private"},
		{"private nested", "a ", "<private>x<private>y</private>z</private>", " b", "private"},
		{"private unclosed", "a ", "<private>x and the rest", "", "private"},
		{"private html-safe", "a ", `\u003cprivate\u003ex\u003c/private\u003e`, " b", "private"},
		{"private entity", "a ", "&lt;private&gt;x&lt;/private&gt;", " b", "private"},

		{"openssh key", "x\n", pemBlock("OPENSSH ", "\n"), "\ny", "private-key"},
		{"rsa key", "", pemBlock("RSA ", "\n"), "", "private-key"},
		{"encrypted key", "", pemBlock("ENCRYPTED ", "\n"), "", "private-key"},
		{"key with escapes", `key: "`, pemBlock("", `\n`), `"`, "private-key"},
		{"pgp key", "", strings.ReplaceAll(pemBlock("PGP ", "\n"), "KEY--", "KEY BLOCK--"), "", "private-key"},
		{"key without end", "x\n", strings.Split(pemBlock("RSA ", "\n"), "-----END")[0], "and then some words\n", "private-key"},
		{"key without begin", "some words here\n", strings.SplitN(pemBlock("RSA ", "\n"), "KEY-----\n", 2)[1], " y", "private-key"},
		{"key in quotes and pluses", "", pemBlock("", "\\n\" +\n  \""), "\" end", "private-key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := tt.before + tt.secret + tt.after
			got, n := Text(in)
			if n == 0 || strings.Contains(got, tt.secret) {
				t.Fatalf("Text(%q) = %q, %d: not taken out", in, got, n)
			}
			if tt.kind == "" {
				return
			}
			before := tt.before
			if strings.HasPrefix(before, "AK"+"IA") {
				before = mark("aws-key") + ","
			}
			if want := before + mark(tt.kind) + tt.after; got != want {
				t.Errorf("Text(%q)\n got %q\nwant %q", in, got, want)
			}
			if again, m := Text(got); again != got || m != 0 {
				t.Errorf("Text(%q) = %q, %d: not stable", got, again, m)
			}
		})
	}
}

func pemBlock(label, nl string) string {
	b := "-----BEGIN " + label + "PRIVATE " + "KEY-----" + nl
	for range 5 {
		b += alnum(64) + nl
	}
	return b + alnum(20) + "==" + nl + "-----END " + label + "PRIVATE " + "KEY-----"
}

func TestTextLeavesAlone(t *testing.T) {
	for _, s := range []string{
		"", "0010", "1 2 3", "-n", "12345678901234567890", `{"a":1}`, `{ "a" : 1 }`, `a\b`, `C:\new\table`, "\\", "\"", "[", "{}", "[1, 2]",
		"commit 3f2a9c1b7d5e4f60a1b2c3d4e5f60718293a4b5c", "3f2a9c1", "index 83db48f..bf269f4 100644",
		"id: 6f1d0a52-58d3-4f7e-9d25-0c9d6f0a7b11", `"integrity": "sha512-` + alnum(86) + `=="`,
		"github.com/google/go-cmp v0.7.0 h1:" + alnum(43) + "=", "sha256:" + hexs(64), "image@sha256:" + hexs(64), "etag: W/\"" + hexs(32) + "\"",
		"data:image/png;base64," + strings.Repeat(alnum(60)+"/+", 20), "iVBORw0KGgoAAAANSUhEUgAA" + alnum(200),
		"internal/redact/token.go", "docs/password-policy.md", "secret_test.go", "token_count.json", "id_rsa.pub", "keys/README.md",
		"password: $PASSWORD", "PASSWORD=${DB_PASSWORD}", "TOKEN=$(cat token)", "export TOKEN=$TOKEN", "token: <token>", "API_KEY=xxxxxxxxxxxx",
		"API_KEY=YOUR_API_KEY", "api_key: your-api-key-here", "const k = process.env.API_KEY", "apiKey: process.env.API_KEY,",
		`token := os.Getenv("TOKEN")`, `password = os.environ["DB_PASSWORD"]`, "token := next()", "token = lexer.next_token()", "password string",
		"password: string;", "password: str = None", "def login(user, password):", "token: Token", "type Config struct { Password string }",
		`Password string ` + "`json:\"password\"`", `<input type="password" name="token">`, `placeholder="Password"`, "secret: bool", "let secret = None;",
		"password = user.password", "token = req.headers.authorization", "password=password, token=token", "login(password=pw)",
		`"max_tokens": 4096`, "max_tokens=4096", "tokenizer = AutoTokenizer", "token_count: 12345678", "prompt_tokens: 12", "total_tokens=1234567",
		"the secretary said: hello1234", "token: unexpected end of input", `fmt.Errorf("password: %w", err)`, `"token=" + token + "&x="`,
		`"invalid password: " + p`, `throw new Error("secret: " + s)`, "Password: see below", "use --token to authenticate",
		"pass --password when needed", "  --token string   the token", "  --password PASSWORD", "--api-key <key>", "--secret id=npm,src=.npmrc",
		"--password-stdin", "--token-file /run/token1234", "docker run -u 1000:1000 x", "ls -u a:b", "https://example.com:8080/a@b", "http://host/a:b@c",
		"https://user@example.com/x", "git@github.com:a/b.git", "https://u:${PASS}@host", "https://u:<password>@host", "ssh://git@host:22/x",
		"Bearer authentication", "Bearer <token>", "Bearer ${TOKEN}", "Bearer YOUR_TOKEN", "Basic authentication", "Visual Basic 6.0",
		"Authorization: required", "Authorization: Bearer $TOKEN", "Cookie: see the docs", "document.cookie = value",
		"sk-loading-indicator-with-long-name", "sk-learn", "npm_config_registry_url_that_is_long", "hf_hub_download", "key-value", "glob-pattern-matching-in-go",
		"AKIA", "ASIAN", "dapper", "eyJust", "shelf_life", "xoxo", "task-management-of-long-names-1234", "SG.x", "-----BEGIN CERTIFICATE-----\n" + alnum(64),
		"-----BEGIN PUBLIC KEY-----\n" + alnum(64) + "\n-----END PUBLIC KEY-----", "----------", "---\ntitle: x\n---", "a -- b", "x --flag y",
		"std::string", "a ? b : c", "http://", "://", "://:$@", "=", ":", "key: value", "cache-key: v1-linux-abc123def", "primaryKey = 'id12345678'", "publicKey: " + alnum(40),
		"nextPageToken: " + alnum(30), "sort_key=abc12345678", "<privateer>", "</private>", "class A { private: int x; }", "private", "vector<int>",
		`printf "\033["`, `re = "\x1b\\[[0-9;]*m"`, `esc = "\u001b"`, "PWD=/home/ann/src", "pass: 12", "if pass == 1 {", "const tokenKind = 7",
		"password must have at least 8 characters", `errors.New("password is too short")`, `password: "Password is required"`, "author = 'x1234567'",
		"passport = 'AB1234567'", "compass: 'N1234567'", "monkey=abc12345678", "keyboard: qwerty12345", "tokens = 'abc12345678'",
		`secretName: my-app-credentials`, "secretKeyRef:\n  name: db\n  key: password", "password_file: /run/secrets/db", "passphrase: Optional[bytes] = None", "data['password'] != data['confirm']", "X_FILTER_PASS = C.X_FILTER_PASS",
		`encodeUserPassword: "encodeUserPassword"`, "sig != directory64LocSignature", "--- PASS: TestLastIndexByte (0.00s)", "see --username and --password options", "PASSWORD_FILE=/run/secrets/db_password1",
		"日本語のテキスト 🎉", "e\u0301", goSource,
	} {
		if got, n := Text(s); got != s || n != 0 {
			t.Errorf("Text(%q)\n got %q, %d", s, got, n)
		}
	}
}

func TestTextStripsANSI(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"\x1b[31mred\x1b[0m", "red"}, {"\x1b[1;38;5;196mx\x1b[m", "x"}, {"a\x1b[2K\x1b[1Gb", "ab"}, {"\x1b[?25lx\x1b[?25h", "x"},
		{"\x1b]0;title\x07x", "x"}, {"\x1b]8;;https://a\x1b\\link\x1b]8;;\x1b\\", "link"}, {"\x1bPq#0\x1b\\x", "x"}, {"\x1b(Bx\x1b=", "x"},
		{"\u009b31mx", "x"}, {"x\x1b", "x"}, {"\x1b[", ""}, {"\x1b]0;open\nnext", "0;open\nnext"}, {"\x1b\x1b[0m[31mx", "[31mx"},
		{`\u001b[31mred\u001b[0m`, "red"}, {`\u001B[31mred`, "red"}, {`\x1b[31mred\x1b[0m`, "red"}, {`\033[1;31mred\033[0m`, "red"}, {`\e[31mred`, "red"},
		{`\\u001b[31mred`, "red"}, {`\\\\u001b[31mred`, "red"}, {`\x1b]0;t\x07x`, "x"}, {`\u001b]8;;u\u001b\\x`, "x"},
		{`\u00\u001b[0m1b[31mx`, "x"}, {"gh" + "p_\x1b[1m" + alnum(36), "[redacted:github-token]"}, {"<pri\x1b[0mvate>x", "[redacted:private]"},
	} {
		if got, _ := Text(tt.in); got != tt.want {
			t.Errorf("Text(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestTextCounts(t *testing.T) {
	in := "DB_PASSWORD=hunter2\n<private>x</private>\nredis://:p4ss@h\n" + "gh" + "p_" + alnum(36)
	if got, n := Text(in); n != 4 {
		t.Errorf("Text(%q) = %q, %d; want 4", in, got, n)
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{
		"apiKey", "api-key", "api_key", "APIKEY", "X-Api-Key", "token", "Token", "accessToken", "access_token", "id_token", "githubToken", "GITHUB_TOKEN",
		"githubtoken", "token2", "secret", "clientSecret", "client_secret", "secretKey", "aws_secret_access_key", "SecretAccessKey", "SECRET_KEY_BASE",
		"password", "PASSWORD", "dbPassword", "passwd", "password_hash", "passphrase", "DB_PASS", "MYSQL_PWD", "credential", "credentials", "creds",
		"authorization", "Proxy-Authorization", "private_key", "privateKey", "cookie", "Set-Cookie", "cookies", "AccountKey", "x-amz-security-token",
		"OPENAI_API_KEY", "config.password", "a.b.token",
	} {
		if k, _ := nameKind(name); k == "" {
			t.Errorf("nameKind(%q): not a secret", name)
		}
	}
	for _, name := range []string{
		"", "k", "max_tokens", "maxTokens", "tokenizer", "token_count", "tokenCount", "tokens", "prompt_tokens", "secretary", "passwordless", "password_file",
		"password_length", "passport", "key", "keyboard", "public_key", "primaryKey", "cookieConsent", "token_type", "tokenUrl", "sessionId", "timestamp",
		"cwd", "hook_event_name", "transcriptPath", "toolName", "toolArgs", "author", "authority", "next_page_token", "private_key_id", "access_key_id", "bypass",
	} {
		if k, _ := nameKind(name); k != "" {
			t.Errorf("nameKind(%q) = %q, want none", name, k)
		}
	}
}
