"""Hooks of MkDocs: what the site does beyond Markdown.

* A code block whose language is followed by a name (```` ```csv table.csv ````) gets that title.
* Comments for `scripts/docs --check` (marks, hidden setup) do not reach the page; of measurements
  on demand it shows the date of the last run.
* `<!-- kinds -->` becomes the table of the pages of problem kinds.
* Links to files of the repository outside `docs/` lead to copies: Markdown files of the root become
  pages of the site, everything else is copied as text under `source/`.
* Figures with the class `fig` are placed into the page, so they follow its color scheme.
* Cells of tables with long texts are marked, so their columns stay readable on a telephone.
* Scripts of the gallery are also written as notebooks.
* Every page is also written as Markdown next to its HTML, and `llms.txt` lists all of them.
"""

import posixpath
import re
import sys
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "gallery"))
sys.path.insert(0, str(Path(__file__).parent))
import cells  # noqa: E402
import figure  # noqa: E402
import last_run  # noqa: E402

# Markdown files of the repository that are pages of the site, and where.
PROJECT_PAGES = {
    "CONTRIBUTING.md": "project/contributing.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
    "testdata/README.md": "project/reference-data.md",
    "bench/README.md": "project/benchmark-programs.md",
}
KINDS_MARK = "<!-- kinds -->"
FENCE = re.compile(r"^```(\w+) (\S+)$", re.MULTILINE)
MARK = re.compile(
    r"^<!-- (?:run|setup|check|from|given|copied)\b.*?-->\n?", re.MULTILINE | re.DOTALL
)
INLINE_MARK = re.compile(r"<!-- check:.*?-->", re.DOTALL)
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
FIGURE = re.compile(r"^!\[([^\]]*)\]\(([^)\s]+\.svg)\)$", re.MULTILINE)
CELL = re.compile(r"<td((?: [^>]*)?)>(.*?)</td>", re.DOTALL)
# Longer cells do not fit into one line of a telephone.
MIN_SENTENCE_LENGTH = 40
SCHEME_QUERY = re.compile(r"@media \(prefers-color-scheme: dark\) \{(.*)\}\s*$", re.DOTALL)

# Paths of the repository that pages link to: they are copied as text.
_sources = set()
# Title, address and first sentence of every page, for llms.txt.
_pages = {}


def source_of(page_path):
    """Return the path in the repository of a page of the site."""
    for source, target in PROJECT_PAGES.items():
        if target == page_path:
            return source
    return f"docs/{page_path}"


def target_of(path):
    """Return the address in the site, relative to its root, of a path in the repository."""
    if path in PROJECT_PAGES:
        return PROJECT_PAGES[path]
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if (ROOT / path).is_file():
        _sources.add(path)
        return f"source/{path}.txt"
    return None


def rewrite_link(link, page_path):
    """Return a link of a page such that it leads to a file of the site."""
    if re.match(r"[a-z]+:|#|/", link):
        return link
    file, mark, anchor = link.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source_of(page_path)), file))
    target = target_of(path)
    if target is None:
        return link
    return posixpath.relpath(target, posixpath.dirname(page_path) or ".") + mark + anchor


def outside_code(text, function):
    """Apply a function to the parts of a text that are not code."""
    parts = CODE.split(text)
    return "".join(part if number % 2 else function(part) for number, part in enumerate(parts))


def inline_figure(match, page_path):
    """Return a figure with the class `fig` as part of the page; others stay images."""
    path = DOCS / posixpath.normpath(posixpath.join(posixpath.dirname(page_path), match[2]))
    text = path.read_text() if path.is_file() else ""
    if 'class="fig"' not in text:
        return match[0]
    drawing = re.sub(r"<style>.*?</style>|<\?xml.*?\?>|\n\s*", "", text, flags=re.DOTALL)
    return f'<div class="figure">{drawing}</div>'


def figure_style(style):
    """Return the style of figures for a page whose color scheme is an attribute of its body."""
    dark = SCHEME_QUERY.search(style)
    if dark is None:
        return style
    rules = re.sub(r"(^|\})\s*([^{}]+)\{", r'\1\n[data-md-color-scheme="slate"] \2{', dark[1])
    return style[: dark.start()] + rules


def shown_mark(match):
    """Return what readers see of a mark that is a paragraph of its own."""
    caption = last_run.caption(match[0])
    return f"*{caption}*\n\n" if caption else ""


def kind_table():
    """Return the kinds of problems, in the order of the navigation, each with its question."""
    rows = ["| kind | |", "|---|---|"]
    for name in re.findall(r"problems/([a-z-]+)\.md", (ROOT / "mkdocs.yml").read_text()):
        text = (DOCS / "problems" / f"{name}.md").read_text()
        kind = re.search(r'^kind = "(\w+)"', text, re.MULTILINE)
        if kind and name != "index":
            rows.append(f"| [`{kind[1]}`]({name}.md) | {first_sentence(text)} |")
    return "\n".join(rows)


def page_text(markdown, page_path):
    """Return the Markdown of a page as readers get it."""
    markdown = markdown.replace(KINDS_MARK, kind_table())

    def prepare(part):
        part = INLINE_MARK.sub("", MARK.sub(shown_mark, part))
        return LINK.sub(lambda m: m[1] + rewrite_link(m[2], page_path) + m[3], part)

    return outside_code(markdown, prepare)


def on_pre_build(config):
    """Forget what an earlier build has found."""
    _sources.clear()
    _pages.clear()


def on_files(files, config):
    """Add the Markdown files of the root, and every file of the repository that pages link to."""
    for source, target in PROJECT_PAGES.items():
        files.append(File.generated(config, target, content=(ROOT / source).read_text()))
    for script in sorted((DOCS / "gallery").glob("*-*.py")):
        target = f"gallery/{script.stem}.ipynb"
        files.append(File.generated(config, target, content=cells.notebook(script)))
    for page in files.documentation_pages():
        page_text(page.content_string, page.src_uri)
    for path in sorted(_sources):
        content = (ROOT / path).read_bytes()
        files.append(File.generated(config, f"source/{path}.txt", content=content))
    return files


def on_page_markdown(markdown, page, config, files):
    """Prepare the Markdown of a page for the site."""
    path = page.file.src_uri
    text = page_text(markdown, path)
    description = first_sentence(text)
    _pages[path] = (page.title or path, description, text)
    page.meta.setdefault("description", description)
    text = FENCE.sub(r'```\1 title="\2"', text)
    return FIGURE.sub(lambda match: inline_figure(match, path), text)


def first_sentence(text):
    """Return the first sentence of a page, without markup."""
    for paragraph in re.split(r"\n\s*\n", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)):
        if re.match(r"[A-Za-z`*\[“\"]", paragraph):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[*`]", r"\1", " ".join(paragraph.split()))
            return re.match(r".*?[.?](?= |$)|.*", plain)[0]
    return ""


def on_page_content(html, page, config, files):
    """Show where the Markdown of the page is, and keep cells with sentences readable."""
    name = posixpath.basename(page.file.src_uri)
    link = f'<a class="as-markdown" href="{name}" type="text/markdown">Markdown</a>'
    return link + CELL.sub(mark_sentence_cell, html)


def mark_sentence_cell(match):
    """Mark a cell with a long text: on a telephone its column would be one word wide."""
    text = re.sub(r"<[^>]*>", "", match[2])
    if len(text) < MIN_SENTENCE_LENGTH:
        return match[0]
    return f'<td class="sentence"{match[1]}>{match[2]}</td>'


def nav_entries(items, depth=0):
    """Yield lines of llms.txt for the items of the navigation."""
    for item in items:
        if item.is_section:
            yield f"\n## {item.title}\n" if depth == 0 else f"\n{item.title}:\n"
            yield from nav_entries(item.children, depth + 1)
        elif item.is_page:
            title, description, _ = _pages[item.file.src_uri]
            yield f"- [{title}]({item.file.src_uri}): {description}"


_nav = None


def on_nav(nav, config, files):
    """Keep the navigation for llms.txt."""
    global _nav
    _nav = nav
    return nav


def on_post_build(config):
    """Write every page as Markdown next to its HTML, llms.txt and the style of figures."""
    site = Path(config.site_dir)
    for path, (_, _, text) in _pages.items():
        target = site / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    lines = [f"# {config.site_name}", "", f"> {config.site_description}.", ""]
    lines.append("Every page is Markdown; the same address with .html is the page for people.")
    lines += nav_entries(_nav.items)
    (site / "llms.txt").write_text("\n".join(lines) + "\n")
    with (site / "assets" / "site.css").open("a") as css:
        css.write(figure_style(figure.STYLE))
    write_redirects(site)


def write_redirects(site):
    """Write a page for every address that has moved, which leads to the new one."""
    for line in Path(__file__).with_name("redirects.txt").read_text().splitlines():
        old, new = line.split()
        target = posixpath.relpath(new, posixpath.dirname(old) or ".")
        page = site / old
        if page.exists() or not (site / new).exists():
            raise SystemExit(f"redirects.txt: {line}: the first exists, or the second does not")
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Moved</title>'
            f'<meta http-equiv="refresh" content="0; url={target}">'
            f'<p>This page is now <a href="{target}">{target}</a>.</p></html>\n'
        )
