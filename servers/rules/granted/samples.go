package granted

import "strings"

// sample is a call that does what a mark says.
type sample struct {
	Call
	mark string
}

// samples are commands that run what their words say, and commands that write a file. Programs stand here
// whose names do not say so; of the others, what a command does by itself is read from it.
func samples() (all []sample) {
	for _, list := range []struct{ mark, commands string }{{RunsAnything, runs}, {WritesFiles, writes}} {
		for line := range strings.Lines(list.commands) {
			if words := strings.Fields(line); len(words) > 0 {
				all = append(all, sample{Call{Command, words}, list.mark})
			}
		}
	}
	return append(all, sample{Call{Edit, []string{"x"}}, WritesFiles})
}

const runs = `
bash -c id
bash -lc id
sh -c id
zsh -c id
dash -c id
eval id
exec id
env id
xargs sh -c id
timeout 5 id
nice id
nohup id
setsid id
stdbuf -o0 id
time id
watch id
sudo id
doas id
su -c id
ssh host id
find . -exec id ;
find . -execdir id ;
fd -x id
python -c id
python3 -c id
node -e id
deno eval id
bun -e id
bunx id
npx id
npm exec id
pnpm dlx id
uvx id
uv run id
pipx run id
perl -e id
ruby -e id
php -r id
lua -e id
awk BEGIN{system("id")}
gawk BEGIN{system("id")}
sed 1e id
git -c alias.x=!id x
git rebase -x id
git bisect run id
git grep -Oid x
rg --pre id x
sort --compress-program=id x
tar --checkpoint-action=exec=id x
make --eval=x:;id
parallel id
docker run -v /:/h x id
docker exec x id
kubectl exec x -- id
vim -c !id
man -P id x
less +!id x
go run x
go test -exec id
go generate
tmux new id
screen id
script -c id
osascript -e id
powershell -c id
pwsh -c id
`

const writes = `
git log --output=x
git diff --output=x
git show --output=x
git stash show --output=x
git format-patch x
git archive -o x
git apply x
git commit -m x
sort -o x
uniq x y
sed -i s/a/b/ x
sed -n wx
find . -delete
find . -fprint x
tree -o x
curl -o x
wget -O x
tar -xf x
unzip x
dd of=x
tee x
cp x y
mv x y
rm x
touch x
mkdir x
ln x y
chmod 7 x
patch x
install x y
rsync x y
truncate -s0 x
jq -i x
yq -i x
gofmt -w x
prettier --write x
eslint --fix x
black x
go mod tidy
npm install x
pip install x
cargo fmt
shuf -o x
xxd -r x y
iconv -o x
`
